import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;

/** The timing of a marathon: "pass N" notes when runner N came over a mat, and is answered by the place. The sheet of all times is saved again and again. */
public class @{Class} {
    private static final int RECORD = 64, KEPT = 3;

    static final class Sheet {
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(@{kb} * 1024).order(ByteOrder.LITTLE_ENDIAN);
        private int passed;

        int note(int runner) {
            int at = (int) (runner * 4099L * RECORD % (bytes.capacity() - RECORD));
            bytes.putInt(at, runner);
            bytes.putDouble(at + 8, System.currentTimeMillis() / 1000.0);
            return ++passed;
        }

        private static Path path(int number) {
            return Path.of("@{work}/@{folder}/@{prefix}" + number);
        }

        void @{fnCamel}(int number) {
            ByteBuffer times = bytes.duplicate();
            CRC32 sum = new CRC32();
            sum.update(times.duplicate());
            try (FileChannel file = FileChannel.open(path(number), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                while (times.hasRemaining())
                    file.write(times);
                file.write(ByteBuffer.allocate(8).putLong(0, sum.getValue()));
                file.force(true);
                Files.deleteIfExists(path(number - KEPT));
            } catch (IOException error) {
                System.err.println("not saved: " + error);
            }
        }
    }

    private final Sheet sheet = new Sheet();
    private final MessageDigest digest;

    private @{Class}() throws GeneralSecurityException {
        digest = MessageDigest.getInstance("SHA-1");
    }

    /** What the runner gets at the end: hard to make up. */
    private String slip(int runner, int place) {
        byte[] sum = (runner + " " + place).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < @{rounds}; i++)
            sum = digest.digest(sum);
        return HexFormat.of().formatHex(sum, 0, Math.min(5, sum.length));
    }

    /** False when the mat hung up. */
    private boolean answer(SocketChannel mat, ByteBuffer asked) throws IOException {
        if (mat.read(asked) < 0)
            return false;
        asked.flip();
        StringBuilder answers = new StringBuilder();
        for (int at = 0; at < asked.limit(); at++) {
            if (asked.get(at) != '\n')
                continue;
            byte[] line = new byte[at - asked.position()];
            asked.get(line).get();
            int runner = Integer.parseInt(new String(line, StandardCharsets.US_ASCII).substring("pass ".length()).trim());
            int place = sheet.note(runner);
            answers.append(place).append(' ').append(slip(runner, place)).append('\n');
        }
        asked.compact();
        ByteBuffer out = StandardCharsets.US_ASCII.encode(answers.toString());
        while (out.hasRemaining())
            mat.write(out);
        return true;
    }

    private void run() throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel door = ServerSocketChannel.open();
        door.bind(new InetSocketAddress("127.0.0.1", @{port}), 64).configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        ExecutorService clerk = Executors.newSingleThreadExecutor();
        CompletableFuture<Void> saved = CompletableFuture.completedFuture(null);
        int number = 0;
        long pause = (long) (@{every} * 1e6), due = System.nanoTime() + pause;
        while (true) {
            selector.select(Math.max(1, (due - System.nanoTime()) / 1_000_000 + 1));
            for (Iterator<SelectionKey> ready = selector.selectedKeys().iterator(); ready.hasNext(); ready.remove())
                hear(ready.next(), selector, door);
            if (System.nanoTime() < due || !saved.isDone())
                continue;
            int next = ++number;
            if ("@{place}".equals("here"))
                sheet.@{fnCamel}(next);
            else
                saved = CompletableFuture.runAsync(() -> sheet.@{fnCamel}(next), clerk);
            due = System.nanoTime() + pause;
        }
    }

    private void hear(SelectionKey key, Selector selector, ServerSocketChannel door) throws IOException {
        if (key.isAcceptable()) {
            SocketChannel mat = door.accept();
            mat.setOption(StandardSocketOptions.TCP_NODELAY, true).configureBlocking(false);
            mat.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(4096));
            return;
        }
        SocketChannel mat = (SocketChannel) key.channel();
        try {
            if (!answer(mat, (ByteBuffer) key.attachment()))
                mat.close();
        } catch (IOException error) {
            mat.close();
        }
    }

    public static void main(String[] arguments) throws Exception {
        new @{Class}().run();
    }
}
