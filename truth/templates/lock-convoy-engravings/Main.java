import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.LockSupport;

/** Makes the strips of drawings for engraving machines; bundles of strips lie in a depot, and nobody is to be overtaken there. */
public class @{Class} {
    static final int CUTTERS = @{cutters}, STRIPS = @{strips}, BATCH = @{batch}, WIDTH = 500;
    static final boolean TOGETHER = @{together} == 1;
    static final double RATE = @{rate}, SECONDS = @{seconds};

    static final class Depot {
        private final BlockingQueue<int[][]> @{depot} = new ArrayBlockingQueue<>(2 * CUTTERS, true);

        Depot() {
            for (int i = 0; i < 2 * CUTTERS; i++)
                @{depot}.add(new int[Math.min(BATCH, STRIPS)][WIDTH]);
        }

        int[][] @{fnCamel}() throws InterruptedException {
            return @{depot}.take();
        }

        void putBack(int[][] bundle) throws InterruptedException {
            @{depot}.put(bundle);
        }
    }

    static final class Cutter extends Thread {
        private final Depot depot;
        private final CyclicBarrier press;
        private final int number;
        private final long began;
        long units, busy, waited, sum;

        Cutter(Depot depot, CyclicBarrier press, int number, long began) {
            super("cutter-" + number);
            this.depot = depot;
            this.press = press;
            this.number = number;
            this.began = began;
        }

        private void hatch(int[] strip, int row) {
            for (int x = 0; x < WIDTH; x++)
                strip[x] = row * 13 + x;
            for (int pass = 0; pass < 2 * @{hatching}; pass++)
                for (int x = 1; x < WIDTH; x++)
                    strip[x] = strip[x - 1] * 3 + (strip[x] >>> 2) ^ pass;
            sum += strip[WIDTH - 1];
        }

        private void drawing() throws InterruptedException {
            int row = 0;
            while (row < STRIPS) {
                long asked = System.nanoTime();
                int[][] bundle = depot.@{fnCamel}();
                waited += System.nanoTime() - asked;
                for (int i = 0; i < bundle.length && row < STRIPS; i++)
                    hatch(bundle[i], row++);
                asked = System.nanoTime();
                depot.putBack(bundle);
                waited += System.nanoTime() - asked;
            }
        }

        @Override
        public void run() {
            long rounds = (long) (SECONDS * RATE);
            try {
                while (TOGETHER ? units < rounds : System.nanoTime() - began < SECONDS * 1e9) {
                    long start = System.nanoTime();
                    drawing();
                    units++;
                    busy += System.nanoTime() - start;
                    if (TOGETHER)
                        press.await();
                    double due = (units + (TOGETHER ? 0 : number / (double) CUTTERS)) / RATE;
                    long rest = began + (long) (due * 1e9) - System.nanoTime();
                    if (rest > 0)
                        LockSupport.parkNanos(rest);
                }
            } catch (InterruptedException | BrokenBarrierException stopped) {
                interrupt();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException, IOException {
        Depot depot = new Depot();
        CyclicBarrier press = new CyclicBarrier(CUTTERS);
        List<Cutter> cutters = new ArrayList<>();
        long began = System.nanoTime(), units = 0, busy = 0, waited = 0, sum = 0;
        for (int i = 0; i < CUTTERS; i++)
            cutters.add(new Cutter(depot, press, i, began));
        cutters.forEach(Thread::start);
        for (Cutter cutter : cutters) {
            cutter.join();
            units += cutter.units;
            busy += cutter.busy;
            waited += cutter.waited;
            sum += cutter.sum;
        }
        System.out.println(units + " drawings, " + sum);
        String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, waited / 1e9);
        Files.writeString(Path.of("@{report}"), text);
    }
}
