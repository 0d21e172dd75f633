import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;

/** Prices telephone calls. The table says what a minute to a prefix costs; a new edition of it comes now and then. */
public class @{Class} {
    private static final int[] SCALES = {1_000_000, 100_000, 10_000};

    /** Never changed once it is printed. */
    static final class Edition {
        private final long[] prefixes = new long[@{entries}];
        private final int[] cents = new int[@{entries}];

        Edition(int number) {
            for (int i = 0; i < prefixes.length; i++) {
                prefixes[i] = 20000 + i * 48271L % 900000;
                cents[i] = 1 + (i * 31 + number) % 90;
            }
        }

        int price(long callee) {
            long longest = 0;
            int price = 99;
            for (int i = 0; i < prefixes.length; i++)
                if (prefixes[i] > longest && callee / SCALES[i % 3] == prefixes[i]) {
                    longest = prefixes[i];
                    price = cents[i];
                }
            return price;
        }
    }

    private final ReentrantLock @{lock} = new ReentrantLock();
    private final LongAdder units = new LongAdder();
    private final DoubleAdder waited = new DoubleAdder(), busy = new DoubleAdder();
    private final AtomicLong takings = new AtomicLong();
    private Edition present = new Edition(1);

    private int @{fnCamel}(long callee) {
        long asked = System.nanoTime();
        @{lock}.lock();
        waited.add((System.nanoTime() - asked) / 1e9);
        Edition edition;
        try {
            edition = present;
            if ("@{view}".equals("guarded"))
                return edition.price(callee);
        } finally {
            @{lock}.unlock();
        }
        return edition.price(callee);
    }

    /** A line of the bill, with its check number. */
    private static long billed(long call, long callee, int cents) {
        CRC32 check = new CRC32();
        for (int part = 0; part < 30; part++)
            check.update((call + ";" + callee + ";" + part + ";" + cents / 100 + "." + cents % 100).getBytes());
        return check.getValue();
    }

    private void one(long call) {
        long callee = 20_000_000_000L + call * 7368787 % 900_000_000;
        int cents = @{fnCamel}(callee) * (int) (1 + call % 40);
        takings.addAndGet(cents + billed(call, callee, cents) % 2);
    }

    private Void work(int number, long began) throws InterruptedException {
        for (int n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            long start = System.nanoTime();
            one(n * 37L + number);
            busy.add((System.nanoTime() - start) / 1e9);
            units.increment();
            double rest = n / (double) @{rate} + number * 0.004 - (System.nanoTime() - began) / 1e9;
            if (rest > 0)
                TimeUnit.MICROSECONDS.sleep((long) (rest * 1e6));
        }
        return null;
    }

    private void publish() {
        for (int number = 2;; number++) {
            try {
                Thread.sleep((long) (@{editions} * 1000));
            } catch (InterruptedException end) {
                return;
            }
            Edition next = new Edition(number);
            @{lock}.lock();
            try {
                present = next;
            } finally {
                @{lock}.unlock();
            }
        }
    }

    private void report() throws IOException {
        String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.sum(), busy.sum(), waited.sum());
        Files.writeString(Path.of("@{report}"), text);
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} desk = new @{Class}();
        // Once, so that all that is needed is loaded.
        for (int i = 0; i < 300; i++)
            desk.one(i);
        desk.waited.reset();
        Thread publisher = new Thread(desk::publish, "publisher");
        publisher.setDaemon(true);
        publisher.start();
        ExecutorService pool = Executors.newFixedThreadPool(@{workers});
        long began = System.nanoTime();
        for (int i = 0; i < @{workers}; i++) {
            int number = i;
            pool.submit(() -> desk.work(number, began));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
        desk.report();
    }
}
