import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The water of an estuary, step by step, in a thread for each strip of it. */
public class @{Class} {
    static final int THREADS = @{threads}, CELLS = @{cells}, SWEEPS = @{sweeps}, LOOKS = @{looks};

    /** Where the strips wait for each other. */
    static class Meeting {
        private final AtomicInteger there = new AtomicInteger();
        private volatile int round;

        void @{fnCamel}() throws InterruptedException {
            int mine = round;
            if (there.incrementAndGet() == THREADS) {
                there.set(0);
                synchronized (this) {
                    round = mine + 1;
                    notifyAll();
                }
                return;
            }
            for (int i = 0; i < LOOKS; i++) {
                if (round != mine) {
                    return;
                }
                Thread.yield();
            }
            synchronized (this) {
                while (round == mine) {
                    wait();
                }
            }
        }
    }

    static final Meeting start = new Meeting(), swept = new Meeting();
    static final AtomicLong waited = new AtomicLong();
    static volatile boolean over;

    static class Strip implements Runnable {
        private float[] water, next;

        Strip(int number) {
            int arms = (int) (CELLS * @{share});
            int cells = number < 2 ? arms / 2 : (CELLS - arms) / (THREADS - 2);
            water = new float[cells + 2];
            next = new float[cells + 2];
            for (int i = 0; i < water.length; i++) {
                water[i] = i * 37 % 100 / 100f;
            }
        }

        private void sweep() {
            for (int i = 1; i < water.length - 1; i++) {
                next[i] = water[i] + 0.2f * (water[i - 1] - 2 * water[i] + water[i + 1]) - 0.001f * next[i] * next[i];
            }
            float[] old = water;
            water = next;
            next = old;
        }

        void step() throws InterruptedException {
            for (int i = 0; i < SWEEPS; i++) {
                for (int pass = 0; pass < 90; pass++) {
                    sweep();
                }
                long before = System.nanoTime();
                swept.@{fnCamel}();
                waited.addAndGet(System.nanoTime() - before);
            }
        }

        @Override
        public void run() {
            try {
                for (;;) {
                    start.@{fnCamel}();
                    if (over) {
                        return;
                    }
                    step();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] others = new Thread[THREADS];
        for (int i = 1; i < THREADS; i++) {
            others[i] = new Thread(new Strip(i), "@{thread}-" + i);
            others[i].start();
        }
        Strip mouth = new Strip(0);
        long units = 0, busy = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long from = System.nanoTime();
            start.@{fnCamel}();
            mouth.step();
            busy += System.nanoTime() - from;
            units++;
            LockSupport.parkNanos(began + (long) (units * 1e9 / @{rate}) - System.nanoTime());
        }
        over = true;
        start.@{fnCamel}();
        for (int i = 1; i < THREADS; i++) {
            others[i].join();
        }
        double spent = waited.get() / 1e9 / THREADS;
        Files.writeString(Path.of("@{report}"), String.format("{\"units\": %d, \"seconds\": %.6f, \"culprit\": %.6f}", units, busy / 1e9, spent));
    }
}
