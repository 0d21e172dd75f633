import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Partitions of a queue: each has a log that is forced at its own clock; the state of all is checkpointed beside them. */
public class @{Class} {
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), forced = new AtomicLong();

    static class Partition implements Runnable {
        private final FileChannel log;
        private final ByteBuffer events = ByteBuffer.allocate(@{bytes});

        Partition(int number) throws Exception {
            log = FileChannel.open(Path.of("@{work}/@{volume}/partition-" + number), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }

        public void run() {
            long start = System.nanoTime();
            try {
                if (log.position() > 400_000) log.truncate(0);
                events.rewind();
                log.write(events);
                long before = System.nanoTime();
                log.force(true);
                forced.addAndGet(System.nanoTime() - before);
            } catch (Exception error) {
                error.printStackTrace();
            }
            busy.addAndGet(System.nanoTime() - start);
            units.incrementAndGet();
        }
    }

    static void @{fnCamel}() {
        try (FileChannel out = FileChannel.open(Path.of("@{place}/@{snapshot}"), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer state = ByteBuffer.allocateDirect(256 << 10);
            for (long written = 0; written < @{kb} * 1024L; written += state.capacity()) {
                state.rewind();
                out.write(state);
            }
            out.force(true);
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    public static void main(String[] words) throws Exception {
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(@{workers} + 1);
        long period = (long) (1e6 / @{rate});
        clock.scheduleWithFixedDelay(@{Class}::@{fnCamel}, 0, @{rest_ms}, TimeUnit.MILLISECONDS);
        for (int number = 0; number < @{workers}; number++)
            clock.scheduleWithFixedDelay(new Partition(number), number * 29_000L, period, TimeUnit.MICROSECONDS);
        Thread.sleep((long) (@{seconds} * 1000));
        clock.shutdown();
        clock.awaitTermination(10, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy.get() / 1e9 + ", \"culprit\": " + forced.get() / 1e9 + "}");
    }
}
