import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Computes the tariffs of contracts, in a pool. */
public class @{Class} {
    static long units;
    static double busy, culprit, sum;

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

    static double @{fnCamel}(long n) {
        double price = n % 977;
        for (int i = 0; i < @{work_ms} * 400_000; i++) {
            price = price * 1.0000001 + (i & 7);
        }
        return price;
    }

    static void one(long n) {
        try {
            Thread.sleep(@{wait_ms});
        } catch (InterruptedException stop) {
            return;
        }
        double start = now(), used = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
        double price = @{fnCamel}(n);
        double took = now() - start;
        double waited = took - (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9 - used);
        synchronized (@{Class}.class) {
            units++;
            sum += price;
            busy += took;
            culprit += Math.max(0, waited);
        }
    }

    public static void main(String[] arguments) throws Exception {
        AtomicInteger number = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(@{threads}, task -> new Thread(task, "@{pool}-" + number.incrementAndGet()));
        Semaphore room = new Semaphore(@{threads});
        double began = now();
        for (long n = 1; now() - began < @{seconds}; n++) {
            long contract = n;
            room.acquire();
            pool.execute(() -> {
                one(contract);
                room.release();
            });
            waitUntil(began + n * @{work_ms} / 1000.0 / @{load});
        }
        pool.shutdown();
        pool.awaitTermination(12, TimeUnit.SECONDS);
        report(units, busy, culprit);
        System.out.println(sum);
    }
}
