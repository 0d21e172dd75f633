import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** Numbers the lines of invoices: without gaps, in the order in which they are asked for, by law. */
public class @{Class} {
    static final class Numbers {
        private final ReentrantLock @{lock} = new ReentrantLock(true);
        private long next = 1, check = 17;

        long @{fnCamel}(int many) {
            long asked = System.nanoTime();
            @{lock}.lock();
            try {
                waited.add((System.nanoTime() - asked) / 1e9);
                long first = next;
                next += many;
                // The number that is printed has a check digit of all before.
                for (int i = 0; i < 500; i++)
                    check = check * 31 + (first >> (i & 15));
                return first;
            } finally {
                @{lock}.unlock();
            }
        }
    }

    private static final DoubleAdder waited = new DoubleAdder(), busy = new DoubleAdder();
    private static final LongAdder units = new LongAdder();

    private static long text(long number, long account) {
        long hash = number ^ account;
        for (int i = 0; i < @{outside} * 400; i++)
            hash = (hash ^ hash >>> 29) * 1099511628211L;
        return hash;
    }

    private static long invoice(Numbers numbers, int account) {
        long sum = 0, first = @{each} == 1 ? 0 : numbers.@{fnCamel}(@{lines});
        for (int line = 0; line < @{lines}; line++) {
            long number = @{each} == 1 ? numbers.@{fnCamel}(1) : first + line;
            sum += text(number, account);
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        Numbers numbers = new Numbers();
        CyclicBarrier round = new CyclicBarrier(@{threads});
        for (int i = 0; i < 300; i++)
            invoice(numbers, i);
        waited.reset();
        ExecutorService pool = Executors.newFixedThreadPool(@{threads});
        long began = System.nanoTime();
        for (int i = 0; i < @{threads}; i++) {
            int desk = i;
            pool.submit(() -> {
                long sum = 0;
                for (int n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
                    long start = System.nanoTime();
                    sum += invoice(numbers, desk * 977 + n);
                    busy.add((System.nanoTime() - start) / 1e9);
                    units.increment();
                    if (@{barrier} == 1) {
                        try {
                            round.await(300, TimeUnit.MILLISECONDS);
                        } catch (BrokenBarrierException | TimeoutException over) {
                            return sum;
                        }
                    }
                    double due = @{barrier} == 1 ? n / @{pace} : (n + desk / (double) @{threads}) / @{pace};
                    double rest = due - (System.nanoTime() - began) / 1e9;
                    if (rest > 0)
                        TimeUnit.MICROSECONDS.sleep((long) (rest * 1e6));
                }
                return sum;
            });
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
        Files.writeString(Path.of("@{report}"),
                String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.sum(), busy.sum(), waited.sum()));
    }
}
