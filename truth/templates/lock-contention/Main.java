import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** Answers that are rendered from templates; the cache of templates is one object. */
public class @{Class} {
    static final class Cache {
        private final Map<String, String> entries = new TreeMap<>();

        synchronized String @{fnCamel}(String key, long asked) {
            waited.add((System.nanoTime() - asked) / 1e9);
            long start = System.nanoTime();
            String text = entries.computeIfAbsent(key, k -> "Dear " + k + ",");
            while (System.nanoTime() - start < @{work} * 1e6)
                text = text.substring(1) + text.charAt(0);
            return text;
        }
    }

    private static final DoubleAdder waited = new DoubleAdder(), busy = new DoubleAdder();
    private static final LongAdder units = new LongAdder();

    private static int letter(Cache @{lock}, int number) {
        String text = @{lock}.@{fnCamel}("customer " + number % 97, System.nanoTime());
        long start = System.nanoTime();
        int sum = 0;
        while (System.nanoTime() - start < @{outside} * 1e6)
            sum += text.hashCode() ^ number;
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        Cache @{lock} = new Cache();
        // Once, so that all that is needed is loaded.
        for (int i = 0; i < 20; i++)
            letter(@{lock}, i);
        waited.reset();
        ExecutorService pool = Executors.newFixedThreadPool(@{threads});
        long began = System.nanoTime();
        for (int i = 0; i < @{threads}; i++) {
            int number = i;
            pool.submit(() -> {
                for (int n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
                    long start = System.nanoTime();
                    letter(@{lock}, number + n);
                    busy.add((System.nanoTime() - start) / 1e9);
                    units.increment();
                    double rest = n / @{pace} + number * 0.005 - (System.nanoTime() - began) / 1e9;
                    if (rest > 0)
                        TimeUnit.MICROSECONDS.sleep((long) (rest * 1e6));
                }
                return null;
            });
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.sum(), busy.sum(), waited.sum()));
    }
}
