import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Prices quotes: a thread takes what was asked from a queue, and answers. */
public class @{Class} {
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

    public static void main(String[] arguments) throws Exception {
        BlockingQueue<Long> asked = new ArrayBlockingQueue<>(3);
        double[] took = new double[3];
        Thread pricer = new Thread(() -> {
            var threads = ManagementFactory.getThreadMXBean();
            try {
                for (long n = asked.take(); n >= 0; n = asked.take()) {
                    double start = now(), used = threads.getCurrentThreadCpuTime() / 1e9;
                    took[2] += @{fnCamel}(n);
                    double wall = now() - start;
                    took[0] += wall;
                    took[1] += Math.max(0, wall - (threads.getCurrentThreadCpuTime() / 1e9 - used));
                }
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }, "pricer");
        pricer.start();
        long units = 0;
        double began = now();
        while (now() - began < @{seconds}) {
            asked.put(units);
            units++;
            waitUntil(began + units * @{work_ms} / 1000.0 / @{load});
        }
        asked.put(-1L);
        pricer.join();
        report(units, took[0], took[1]);
        System.out.println(took[2]);
    }
}
