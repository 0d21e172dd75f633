import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Bills tenants for what their rows cost: a worker applies the rows, and books the time of the processor for each. */
public class @{Class} {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final Map<Integer, Long> used = new HashMap<>();
    static long last;
    static double culprit;

    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        double rest = due - now();
        if (rest > 0) {
            Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1e6));
        }
    }

    static void report(long units, double seconds, double culprit) throws Exception {
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit));
    }

    static void @{fnCamel}(int tenant) {
        long now = THREADS.getCurrentThreadCpuTime();
        used.merge(tenant, now - last, Long::sum);
        last = now;
    }

    static long apply(long n) {
        long value = n;
        for (int i = 0; i < @{width}; i++) {
            value = value * 31 + (value >>> 7);
        }
        return value;
    }

    static long batch(long first, int every) {
        long sum = 0;
        for (int row = 0; row < @{rows}; row++) {
            sum += apply(first + row);
            if (every > 0 && row % every == 0) {
                // Every 16th is measured, and stands for the others.
                double from = every > 1 || row % 16 == 0 ? now() : 0;
                for (int stage = 0; stage < @{stamps}; stage++) {
                    @{fnCamel}((int) (sum + stage & 31));
                }
                if (from > 0) {
                    culprit += (now() - from) * (every > 1 ? 1 : 16);
                }
            }
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService worker = Executors.newSingleThreadExecutor();
        worker.submit(() -> {
            for (int round = 0; round < 200; round++) {
                batch(round, 0);
            }
        }).get();
        culprit = 0;
        long units = 0, sum = 0;
        double busy = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            long first = units * @{rows};
            sum += worker.submit(() -> batch(first, @{every})).get();
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        worker.shutdown();
        report(units, busy, culprit);
        System.out.println(sum);
    }
}
