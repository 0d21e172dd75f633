import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.PriorityQueue;

/** Looks for the runs in which a sled touched the wall. */
public class @{Class} {
    private final ByteBuffer log = ByteBuffer.allocate(@{run_kb} * 1024);
    private final PriorityQueue<Double> shocks = new PriorityQueue<>();
    private long reading;

    void @{fnCamel}(int number) throws IOException {
        long start = System.nanoTime();
        Path file = Path.of("@{work}/@{volume}", String.format("@{run}-%04d", number % @{count}));
        log.clear();
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            while (log.hasRemaining() && in.read(log) > 0) {
                continue;
            }
        }
        log.flip();
        reading += System.nanoTime() - start;
    }

    void judge() {
        double most = 0;
        for (int round = 1; round <= @{rounds}; round++) {
            double smooth = 0;
            for (int i = 0; i < log.limit(); i += 16) {
                smooth += (log.get(i) - smooth) / (round + 2);
                most = Math.max(most, Math.abs(smooth));
            }
        }
        shocks.add(most);
        if (shocks.size() > 12) {
            shocks.poll();
        }
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        @{Class} track = new @{Class}();
        long began = System.nanoTime(), busy = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            track.@{fnCamel}(units);
            track.judge();
            units++;
            busy += System.nanoTime() - start;
            long rest = start + 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT,
            "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, track.reading / 1e9));
    }
}
