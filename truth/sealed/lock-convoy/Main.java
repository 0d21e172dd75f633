import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/** Gives numbers to invoices, in the order in which they are asked for. */
public class @{Class} extends Thread {
    private static final ReentrantLock @{lock} = new ReentrantLock(true);
    private static final Phaser day = new Phaser(@{threads});
    private static final LongAdder units = new LongAdder();
    private static final DoubleAdder busy = new DoubleAdder();
    private static long last, check;
    private final int number;
    private double waited;

    @{Class}(int number) {
        super("desk-" + number);
        this.number = number;
    }

    private long @{fnCamel}(int count) {
        long start = System.nanoTime();
        @{lock}.lock();
        waited += (System.nanoTime() - start) / 1e9;
        try {
            long entered = System.nanoTime();
            do
                check = check * 31 + last;
            while (System.nanoTime() - entered < @{effort} * 750);
            last += count;
            return last;
        } finally {
            // To be let in and to let the next one in.
            long leaving = System.nanoTime();
            @{lock}.unlock();
            waited += (System.nanoTime() - leaving) / 1e9;
        }
    }

    @Override
    public void run() {
        long began = System.nanoTime(), sum = 0;
        for (int n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            long start = System.nanoTime();
            for (int row = 0; row < @{rows}; row += @{batch}) {
                sum ^= @{fnCamel}(@{batch});
                long writing = System.nanoTime();
                while (System.nanoTime() - writing < @{effort} * 250 * @{batch})
                    sum = sum * 31 + row;
            }
            units.increment();
            busy.add((System.nanoTime() - start) / 1e9);
            double rest = n / @{pace} + number * 0.01 - (System.nanoTime() - began) / 1e9;
            try {
                if (rest > 0)
                    Thread.sleep((long) (rest * 1000));
            } catch (InterruptedException e) {
                return;
            }
            if (@{meet} == 1)
                day.arriveAndAwaitAdvance();
        }
        day.arriveAndDeregister();
        if (sum == 42)
            System.out.println(sum);
    }

    public static void main(String[] arguments) throws Exception {
        List<@{Class}> desks = new ArrayList<>();
        for (int i = 0; i < @{threads}; i++)
            desks.add(new @{Class}(i));
        for (Thread desk : desks)
            desk.start();
        double waited = 0;
        for (@{Class} desk : desks) {
            desk.join();
            waited += desk.waited;
        }
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.sum(), busy.sum(), waited));
    }
}
