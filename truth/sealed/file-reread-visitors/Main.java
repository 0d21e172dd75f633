import java.io.EOFException;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Tells web servers which countries their visitors come from. A question is a datagram: a number and addresses. */
public class @{Class} {
    private static final Path TABLE = Path.of("@{work}/@{folder}/@{table}");
    private static final boolean KEEP = @{keep} != 0;
    private static final int SIZE = 8;

    private final DatagramSocket door;
    private final ThreadLocal<ByteBuffer> buffers = new ThreadLocal<>();
    private final Map<String, LongAdder> seen = new ConcurrentHashMap<>();
    private final LongAdder units = new LongAdder();
    private final LongAdder busy = new LongAdder();
    private final LongAdder reading = new LongAdder();
    private ByteBuffer kept;
    private FileTime version;
    private long looked;

    private @{Class}(DatagramSocket door) {
        this.door = door;
    }

    /** The table: where each range starts, and its country. */
    private ByteBuffer @{fnCamel}() throws IOException {
        long start = System.nanoTime();
        try (FileChannel table = FileChannel.open(TABLE)) {
            int size = (int) table.size();
            ByteBuffer into = buffers.get();
            if (into == null || into.capacity() < size) {
                into = ByteBuffer.allocateDirect(size);
                buffers.set(into);
            }
            into.clear().limit(size);
            while (into.hasRemaining()) {
                if (table.read(into) < 0) {
                    throw new EOFException(TABLE.toString());
                }
            }
            return into.flip();
        } finally {
            reading.add(System.nanoTime() - start);
        }
    }

    private ByteBuffer ranges() throws IOException {
        if (!KEEP) {
            return @{fnCamel}();
        }
        synchronized (this) {
            if (kept == null || System.nanoTime() - looked > 1_000_000_000L) {
                looked = System.nanoTime();
                FileTime current = Files.getLastModifiedTime(TABLE);
                if (!current.equals(version)) {
                    kept = @{fnCamel}();
                    buffers.remove();
                    version = current;
                }
            }
            return kept;
        }
    }

    private static String country(ByteBuffer ranges, String address) {
        long wanted = 0;
        for (String part : address.split("\\.")) {
            wanted = wanted << 8 | Integer.parseInt(part);
        }
        int low = 0;
        int high = ranges.limit() / SIZE;
        while (high - low > 1) {
            int middle = (low + high) >>> 1;
            if ((ranges.getInt(middle * SIZE) & 0xffffffffL) <= wanted) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return "" + (char) ranges.get(low * SIZE + 4) + (char) ranges.get(low * SIZE + 5);
    }

    private void answer(DatagramPacket question) {
        long start = System.nanoTime();
        try {
            String[] words = new String(question.getData(), 0, question.getLength(), StandardCharsets.US_ASCII).split(" ");
            ByteBuffer ranges = ranges();
            StringBuilder said = new StringBuilder(words[0]);
            for (int i = 1; i < words.length; i++) {
                String country = country(ranges, words[i]);
                seen.computeIfAbsent(country, name -> new LongAdder()).increment();
                said.append(' ').append(country);
            }
            byte[] bytes = said.toString().getBytes(StandardCharsets.US_ASCII);
            door.send(new DatagramPacket(bytes, bytes.length, question.getSocketAddress()));
        } catch (IOException error) {
            System.err.println("no answer: " + error.getMessage());
        }
        busy.add(System.nanoTime() - start);
        units.increment();
    }

    public static void main(String[] words) throws Exception {
        long until = System.nanoTime() + Math.round(@{seconds} * 1e9);
        var door = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), @{port}));
        door.setSoTimeout(200);
        @{Class} service = new @{Class}(door);
        var workers = new ThreadPoolExecutor(@{workers}, @{workers}, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(64),
            new ThreadPoolExecutor.DiscardPolicy());
        while (System.nanoTime() < until) {
            var question = new DatagramPacket(new byte[2048], 2048);
            try {
                door.receive(question);
            } catch (SocketTimeoutException nothing) {
                continue;
            }
            workers.execute(() -> service.answer(question));
        }
        workers.shutdown();
        workers.awaitTermination(2, TimeUnit.SECONDS);
        door.close();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %.6f, \"culprit\": %.6f}",
            service.units.sum(), service.busy.sum() / 1e9, service.reading.sum() / 1e9));
    }
}
