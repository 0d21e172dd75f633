import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Plans puppets: for each order, which parts of the store fit together at the joints. */
public class @{Class} {
    private static final class Bin {
        final double[] length, bore, weight;
        final int[] used;

        Bin(int count) {
            length = new double[count];
            bore = new double[count];
            weight = new double[count];
            used = new int[count];
            for (int i = 0; i < length.length; i++) {
                length[i] = 20 + i * 37 % 91;
                bore[i] = 2 + i * 53 % 17 * 0.1;
                weight[i] = 5 + i * 71 % 43;
            }
        }

        private double play(int one, int other) {
            double stretch = length[one] / length[other] - 1.2;
            return Math.abs(bore[one] - bore[other]) + stretch * stretch + Math.sqrt(weight[one] * weight[other]) * 0.01 + used[one] * 1e-6;
        }

        private double pair(int order, int rounds) {
            double least = Double.MAX_VALUE;
            int best = 0;
            for (int round = 0; round < rounds; round++) {
                int shift = 1 + (order + round) % (length.length - 1);
                for (int at = 0; at < length.length; at++) {
                    double play = play(at, (at + shift) % length.length);
                    if (play < least) {
                        least = play;
                        best = at;
                    }
                }
            }
            used[best]++;
            return least;
        }

        /** How well the pairs of parts go together; the best becomes a limb. */
        double @{fnCamel}(int order, int rounds, LongAdder waited) {
            long asked = System.nanoTime();
            synchronized (this) {
                waited.add(System.nanoTime() - asked);
                return pair(order, rounds);
            }
        }
    }

    private final Bin[] bins = new Bin[@{bins}];
    private final LinkedBlockingQueue<Integer> orders = new LinkedBlockingQueue<>(40);
    private final LongAdder busy = new LongAdder(), waited = new LongAdder(), units = new LongAdder();
    private volatile boolean over;

    private void work(int rounds) {
        double sum = 0;
        try {
            while (!over) {
                Integer order = orders.poll(1, TimeUnit.SECONDS);
                if (order == null || over)
                    continue;
                long start = System.nanoTime();
                sum += bins[order * 31 % bins.length].@{fnCamel}(order, rounds, waited);
                // The strings: one for each joint, as long as the stage is high.
                for (int string = 1; string < 2000; string++)
                    sum += Math.sqrt(order + string) * 1e-6;
                busy.add(System.nanoTime() - start);
                units.increment();
            }
        } catch (InterruptedException gone) {
            Thread.currentThread().interrupt();
        }
        System.out.println("play " + sum);
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} shop = new @{Class}();
        Arrays.setAll(shop.bins, i -> new Bin((int) @{kind}));
        // How many rounds there is time for.
        Bin trial = new Bin(@{parts});
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 30; i++) {
            long start = System.nanoTime();
            trial.pair(i, 1000);
            least = Math.min(least, System.nanoTime() - start);
        }
        int rounds = (int) Math.max(1, @{hold_ms} * 1e6 * 1000 / least);
        for (int i = 0; i < @{workers}; i++) {
            Thread worker = new Thread(() -> shop.work(rounds), "bench-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        Random chance = new Random(@{parts});
        long began = System.nanoTime();
        double due = 0;
        for (int number = 0; System.nanoTime() - began < @{seconds} * 1e9; number++) {
            due += -Math.log(1 - chance.nextDouble()) / @{rate} * 1e9;
            long rest = (long) due - (System.nanoTime() - began);
            if (rest > 0)
                TimeUnit.NANOSECONDS.sleep(rest);
            shop.orders.offer(number);
        }
        shop.over = true;
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
            shop.units.sum(), shop.busy.sum() / 1e9, shop.waited.sum() / 1e9));
    }
}
