import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/** The recorder of a network that listens for tremors: a thread for each station, and one that draws the drum of the day. */
public class @{Class} {
    static final LongAdder units = new LongAdder(), busy = new LongAdder(), putting = new LongAdder();
    static final Path segments = Path.of("@{work}/@{volume}/@{segments}");
    static volatile boolean over;

    interface Work {
        void run() throws Exception;
    }

    static Thread start(String name, boolean daemon, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception failed) {
                failed.printStackTrace();
                System.exit(1);
            }
        }, name);
        thread.setDaemon(daemon);
        thread.start();
        return thread;
    }

    static void listen(int which) throws Exception {
        Path folder = Files.createDirectories(segments.resolve("st" + which));
        ArrayDeque<Path> kept = new ArrayDeque<>();
        byte[] segment = new byte[@{bytes}];
        long due = System.nanoTime();
        for (int number = 0; !over; number++) {
            Thread.sleep(Math.max(0, due - System.nanoTime()) / 1000000);
            long begin = System.nanoTime();
            CRC32 sum = new CRC32();
            while (System.nanoTime() - begin < @{effort} * 1e6) sum.update(segment);
            segment[number % segment.length] = (byte) sum.getValue();
            long before = System.nanoTime();
            Path part = folder.resolve("part"), path = folder.resolve(String.format("%06d", number));
            Files.write(part, segment);
            Files.move(part, path, StandardCopyOption.ATOMIC_MOVE);
            kept.add(path);
            if (kept.size() > 20) Files.delete(kept.remove());
            long end = System.nanoTime();
            units.increment();
            busy.add(end - begin);
            putting.add(end - before);
            due = Math.max(due + (long) (1e9 / @{rate}), end);
        }
    }

    static void @{fnCamel}(ByteBuffer day) throws IOException {
        Path picture = Files.createDirectories(Path.of("@{work}/@{pictures}")).resolve("@{picture}"), draft = Path.of(picture + ".new");
        try (FileChannel out = FileChannel.open(draft, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            for (int at = 0; at < day.capacity(); at += 1 << 18)
                out.write(day.slice(at, Math.min(1 << 18, day.capacity() - at)));
            out.force(true);
        }
        Files.move(draft, picture, StandardCopyOption.REPLACE_EXISTING);
    }

    public static void main(String[] arguments) throws Exception {
        Files.createDirectories(segments);
        List<Thread> stations = new ArrayList<>();
        for (int i = 0; i < @{stations}; i++) {
            int which = i;
            stations.add(start("station-" + which, false, () -> listen(which)));
        }
        start("drum", true, () -> {
            byte[] day = new byte[@{kb} * 1024];
            new Random(3).nextBytes(day);
            ByteBuffer text = ByteBuffer.allocateDirect(day.length).put(day);
            while (true) {
                Thread.sleep((long) (@{gap} * 1000));
                @{fnCamel}(text);
            }
        });
        // The names of the segments are kept: those of the last moments together.
        start("index", true, () -> {
            try (FileChannel folder = FileChannel.open(segments)) {
                while (true) {
                    Thread.sleep((long) (@{beat} * 1000));
                    folder.force(true);
                }
            }
        });
        Thread.sleep((long) (@{seconds} * 1000));
        over = true;
        for (Thread station : stations) station.join();
        Files.writeString(Path.of("@{report}"),
            "{\"units\": " + units + ", \"seconds\": " + busy.sum() / 1e9 + ", \"culprit\": " + putting.sum() / 1e9 + "}");
        System.exit(0);
    }
}
