import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

/** Evaluates the surveys of tide pools: how even the species are. Others work on this machine, too. */
public class @{Class} {
    record Count(int species, double number) {}

    private int since;
    private double rested;

    static double now() { return System.nanoTime() / 1e9; }

    /** Leaves the processor to others. */
    void @{fnCamel}() {
        if (++since < @{chunk}) return;
        since = 0;
        double start = now();
        LockSupport.parkNanos(@{naps} * 1000L);
        rested += now() - start;
    }

    static List<Count> read(int pool) {
        Random chance = new Random(pool);
        List<Count> counts = new ArrayList<>();
        for (int n = 0; n < @{counts}; n++) {
            int species = chance.nextInt(@{species});
            counts.add(new Count(species, 1 + chance.nextInt(40) / (1.0 + species)));
        }
        return counts;
    }

    double evenness(List<Count> counts) {
        Map<Integer, Double> seen = new TreeMap<>();
        double total = 0;
        for (Count one : counts) {
            seen.merge(one.species(), one.number(), Double::sum);
            total += one.number();
            @{fnCamel}();
        }
        double h = 0;
        for (double number : seen.values()) h -= number / total * Math.log(number / total);
        return h / Math.log(Math.max(2, seen.size()));
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} survey = new @{Class}();
        ExecutorService analyst = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "analyst");
            thread.setDaemon(true);
            return thread;
        });
        double began = now(), busy = 0, sum = 0;
        int units = 0;
        while (now() - began < @{seconds}) {
            double start = now();
            List<Count> counts = read(units);
            sum += analyst.submit(() -> survey.evenness(counts)).get();
            units++;
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        String text = "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"even\": %f}";
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, text, units, busy, survey.rested, sum / units));
    }
}
