import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class @{Class} {
    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        Thread.sleep(Math.max(0L, (long) ((due - now()) * 1000)));
    }

    static void report(long units, double busy, double culprit) throws java.io.IOException {
        String text = String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
        java.nio.file.Files.writeString(java.nio.file.Path.of("@{report}"), text);
    }

    // Points of customers, by the number of their card.
    static final long[] POINTS = new long[1024];
    static final Object CARDS = new Object();

    static int draw(int seed) {
        for (int i = 0; i < @{hold}; i++) {
            seed = seed * 1664525 + 1013904223;
        }
        return seed;
    }

    static class Till implements Callable<double[]> {
        final double began;
        int seed;
        double waited;

        Till(double began, int seed) {
            this.began = began;
            this.seed = seed;
        }

        void @{fnCamel}(int count) {
            for (int i = 0; i < count; i++) {
                double start = (i & 15) == 0 ? now() : 0;
                synchronized (CARDS) {
                    if ((i & 15) == 0) {
                        waited += 16 * (now() - start);
                    }
                    seed = draw(seed);
                    POINTS[seed >>> 22] += seed & 15;
                }
            }
        }

        void atOnce(int count) {
            long[] own = new long[POINTS.length];
            for (int i = 0; i < count; i++) {
                seed = draw(seed);
                own[seed >>> 22] += seed & 15;
            }
            synchronized (CARDS) {
                for (int i = 0; i < own.length; i++) {
                    POINTS[i] += own[i];
                }
            }
        }

        public double[] call() throws Exception {
            double busy = 0;
            long units = 0;
            while (now() - began < @{seconds}) {
                double start = now();
                if (@{apart} == 1) {
                    atOnce(@{used});
                } else {
                    @{fnCamel}(@{used});
                }
                units++;
                busy += now() - start;
                waitUntil(began + units / (double) @{rate});
            }
            return new double[] {units, busy, waited};
        }
    }

    public static void main(String[] words) throws Exception {
        ExecutorService tills = Executors.newFixedThreadPool(@{threads});
        List<Callable<double[]>> work = new ArrayList<>();
        for (int i = 0; i < @{threads}; i++) {
            work.add(new Till(now(), i));
        }
        double units = 0, busy = 0, waited = 0;
        for (Future<double[]> done : tills.invokeAll(work)) {
            units += done.get()[0];
            busy += done.get()[1];
            waited += done.get()[2];
        }
        tills.shutdown();
        report((long) units, busy, Math.min(waited, busy));
    }
}
