import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Imports the changes of a railway's timetable: batch by batch, each as a whole or not at all. */
public class @{Class} {
    /** A train at a station. */
    private static final class Call {
        final int trip;
        final int station;
        final double arrives;
        final double leaves;
        final Call last;
        Double before;

        Call(int trip, int station, double arrives, double leaves, Call last) {
            this.trip = trip;
            this.station = station;
            this.arrives = arrives;
            this.leaves = leaves;
            this.last = last;
        }
    }

    private record Batch(int number, List<Call> calls) {
    }

    private final Map<Integer, Double> arrivals = new HashMap<>();
    private final List<Batch> history = new ArrayList<>();
    private long spent;

    private Batch read(int number) {
        Batch batch = new Batch(number, new ArrayList<>());
        for (int trip = 0; trip < @{trips}; trip++) {
            int at = 300 + (number * 7 + trip * 11) % 900;
            Call last = null;
            for (int i = 0; i < @{calls}; i++) {
                at += 2 + (number + i * trip) % 6;
                last = new Call(number % 8 * 100 + trip, (trip * 5 + i) % 400, at + 0.25, at + 1.0, last);
                batch.calls.add(last);
            }
        }
        return batch;
    }

    private double check(Batch batch) {
        double late = 0;
        for (int round = 0; round < @{effort} * 60; round++) {
            for (Call call : batch.calls) {
                late = late * 0.9 + Math.max(0, call.arrives - call.leaves + 1) * (call.station % 7);
            }
        }
        return late;
    }

    /** What was there before is kept, so that the batch can be taken back as long as it is not committed. */
    private void @{fnCamel}(Batch batch) {
        for (Call call : batch.calls) {
            call.before = arrivals.put(call.trip * 512 + call.station, call.arrives);
        }
        history.add(batch);
    }

    private void commit() {
        if (history.size() > @{undo}) {
            history.subList(0, history.size() - @{undo}).clear();
        }
    }

    /** The machine is shared with others: above a limit, what is not needed is given back between two batches. */
    private void @{fn2}() {
        Runtime runtime = Runtime.getRuntime();
        if (runtime.totalMemory() - runtime.freeMemory() > @{memory_mb}L << 20) {
            long start = System.nanoTime();
            System.gc();
            spent += System.nanoTime() - start;
        }
    }

    private void work() throws IOException, InterruptedException {
        int number = 0;
        for (; number < @{loaded}; number++) {
            @{fnCamel}(read(number));
            commit();
        }
        long busy = 0;
        int units = 0;
        double late = 0;
        long due = System.nanoTime();
        long end = due + (long) (@{seconds} * 1e9);
        for (long start; (start = System.nanoTime()) < end;) {
            number++;
            Batch batch = read(number);
            late += check(batch);
            @{fnCamel}(batch);
            commit();
            @{fn2}();
            long now = System.nanoTime();
            busy += now - start;
            units++;
            due = Math.max(due + (long) (1e9 / @{rate}), now);
            Thread.sleep((due - now) / 1000000);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"late\": %.1f}", units, busy / 1e9, spent / 1e9, late));
    }

    public static void main(String[] arguments) throws Exception {
        new @{Class}().work();
    }
}
