import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/** The belt: a bag comes, gets its chute, and is pushed. */
public class @{Class} {
    record Bag(int tag, int flight, CompletableFuture<Integer> chute) { }

    static final BlockingQueue<Bag> arrivals = new ArrayBlockingQueue<>(64);
    static final Map<Integer, Integer> planned = new ConcurrentHashMap<>();
    static final LongAdder[] pushed = new LongAdder[40];
    static volatile String shown = "";

    /** Where the bag's flight is loaded: the chute with the shortest way for all bags of it. */
    static int plan(Bag bag) {
        long best = Long.MAX_VALUE;
        int chute = 0;
        for (int i = 0; i < @{effort} * 8; i++) {
            long way = (bag.flight * 7919L + i * 104729L) % 99991 + (i % 40) * 3L;
            if (way < best) {
                best = way;
                chute = i % 40;
            }
        }
        return chute;
    }

    static void planner() {
        try {
            while (true) {
                Bag bag = arrivals.take();
                int chute = plan(bag);
                if ("@{wait}".equals("look"))
                    planned.put(bag.tag, chute);
                bag.chute.complete(chute);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static int @{fnCamel}(Bag bag) throws Exception {
        arrivals.put(bag);
        if ("@{wait}".equals("told"))
            return bag.chute.get();
        Integer chute;
        while ((chute = planned.remove(bag.tag)) == null)
            Thread.sleep((long) @{pause});
        return chute;
    }

    static void board() {
        try {
            while (true) {
                Thread.sleep((long) Math.max(1, @{board}));
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < pushed.length; i++)
                    text.append(i).append(':').append(pushed[i].sum()).append(' ');
                shown = text.toString();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < pushed.length; i++)
            pushed[i] = new LongAdder();
        start(@{Class}::planner);
        if (@{board} > 0)
            start(@{Class}::board);
        long began = System.nanoTime(), busy = 0, culprit = 0;
        int units = 0;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            Bag bag = new Bag(units, ThreadLocalRandom.current().nextInt(@{flights}), new CompletableFuture<>());
            long asked = System.nanoTime();
            int chute = @{fnCamel}(bag);
            culprit += System.nanoTime() - asked;
            pushed[chute].increment();
            units++;
            busy += System.nanoTime() - start;
            long rest = began + (long) (units / (double) @{rate} * 1e9) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        write(units, busy / 1e9, culprit / 1e9);
    }

    static void write(int units, double busy, double culprit) throws IOException {
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }
}
