import java.lang.management.*;
import java.nio.file.*;
import java.util.*;

/** The weighbridge of a quarry: writes a docket for each lorry. Its planners look for an order in which the lorries wait least. */
public class @{Class} {
    static final int LORRIES = @{lorries};
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private final double[] tare = new double[LORRIES], load = new double[LORRIES], comes = new double[LORRIES];
    private double best = Double.MAX_VALUE;

    @{Class}() {
        for (int i = 0; i < LORRIES; i++) {
            tare[i] = 11000 + i * 37 % 4000;
            load[i] = 9000 + i * 91 % 15000;
            comes[i] = i * 2.5 + i * 17 % 11;
        }
    }

    double waits(int[] order) {
        double at = 0, sum = 0;
        for (int i : order) {
            at = Math.max(at, comes[i]);
            sum += at - comes[i];
            at += 1.5 + load[i] / 9000;
        }
        return sum;
    }

    static void swap(int[] order, int a, int b) {
        int lorry = order[a];
        order[a] = order[b];
        order[b] = lorry;
    }

    /** Searches for as long as a spell takes; the shortest wait that it has found. */
    double @{fn2}(int[] order, SplittableRandom chance, double milliseconds) {
        double shortest = waits(order);
        for (long end = System.nanoTime() + (long) (milliseconds * 1e6); System.nanoTime() < end; )
            for (int i = 0; i < 50; i++) {
                int a = chance.nextInt(LORRIES), b = chance.nextInt(LORRIES);
                swap(order, a, b);
                double wait = waits(order);
                if (wait <= shortest) shortest = wait;
                else swap(order, a, b);
            }
        return shortest;
    }

    synchronized void offer(double wait) {
        best = Math.min(best, wait);
    }

    void plan(int number) {
        var chance = new SplittableRandom(number);
        int[] order = new int[LORRIES];
        for (int i = 0; i < LORRIES; i++) order[i] = i;
        try {
            Thread.sleep((long) (@{rest} * chance.nextDouble()));
            while (true) {
                offer(@{fn2}(order, chance, @{spell}));
                if (@{rest} > 0) Thread.sleep((long) @{rest});
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The docket: the net weight from the bridge's four cells, whose samples are smoothed for as long of a core as a weighing needs. */
    String docket(int lorry, int number, double milliseconds) {
        double[] cells = new double[4];
        long end = THREADS.getCurrentThreadCpuTime() + (long) (milliseconds * 1e6), noise = number;
        while (THREADS.getCurrentThreadCpuTime() < end)
            for (int i = 0; i < 2000; i++) {
                noise = noise * 6364136223846793005L + 1;
                double sample = (tare[lorry] + load[lorry]) / 4 + (noise >>> 58) - 32;
                cells[i % 4] += (sample - cells[i % 4]) / 64;
            }
        return "docket " + number + ": net " + Math.round(Arrays.stream(cells).sum() - tare[lorry]) + " kg";
    }

    static double now() {
        return System.nanoTime() / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        var yard = new @{Class}();
        for (int i = 0; i < @{planners}; i++) {
            int number = i;
            var planner = new Thread(() -> yard.plan(number), "planner");
            planner.setDaemon(true);
            planner.start();
        }
        double began = now(), busy = 0, used = 0;
        int units = 0;
        String last = "";
        while (now() - began < @{seconds}) {
            double start = now(), cpu = THREADS.getCurrentThreadCpuTime() / 1e9;
            last = yard.docket(units % LORRIES, units + 1, @{docket});
            units++;
            used += THREADS.getCurrentThreadCpuTime() / 1e9 - cpu;
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        System.err.println(last + ", the shortest wait is " + Math.round(yard.best) + " minutes");
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy + ", \"culprit\": " + Math.max(0, busy - used) + "}");
        System.exit(0);
    }
}
