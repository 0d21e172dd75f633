import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

/** Sightings in the aviary: keepers post what they have seen, the census is drawn anew all the time. */
public class @{Class} {
    static final class Cage {
        long seen;
        double weight = 1;
        String last = "";
    }

    final ReentrantLock lock = new ReentrantLock();
    final List<Cage> cages = new ArrayList<>();
    volatile Map<Integer, Double> census = Map.of();
    long units;
    double busy, waited;

    static double since(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    Map<Integer, Double> levels(double[] shares) {
        long began = System.nanoTime();
        double[] bins = new double[24];
        while (since(began) * 1000 < @{ms})
            for (double share : shares) bins[(int) Math.abs(share * 3) % 24] += Math.sqrt(Math.abs(share));
        Map<Integer, Double> found = new TreeMap<>();
        for (int bin = 0; bin < bins.length; bin++) found.put(bin, bins[bin]);
        return found;
    }

    double[] shares() {
        return cages.stream().mapToDouble(cage -> Math.log1p(cage.seen) * cage.weight).toArray();
    }

    void @{fnCamel}() {
        if (@{inside} == 1) {
            lock.lock();
            try {
                census = levels(shares());
            } finally {
                lock.unlock();
            }
            return;
        }
        lock.lock();
        double[] shares;
        try {
            shares = shares();
        } finally {
            lock.unlock();
        }
        census = levels(shares);
    }

    void post(int keeper, long turn) {
        long start = System.nanoTime();
        String text = String.join(" ", "keeper", Integer.toString(keeper), "saw", Long.toString(turn % 19), "finches");
        long asked = System.nanoTime();
        lock.lock();
        double took = since(asked);
        try {
            Cage cage = cages.get((int) ((keeper * 37 + turn * 11) % cages.size()));
            cage.seen++;
            cage.weight = 0.9 * cage.weight + 0.01 * (turn % 13);
            cage.last = text;
            units++;
            waited += took;
            busy += since(start);
        } finally {
            lock.unlock();
        }
    }

    void keeper(int number, BlockingQueue<Long> inbox, long began) {
        try {
            for (long turn = 1; ; turn++) {
                if (@{queued} == 1) {
                    turn = inbox.take();
                    if (turn < 0) return;
                } else {
                    double rest = (turn + number / 7.0) / @{rate} - since(began);
                    if (rest > 0) Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1_000_000));
                    if (since(began) > @{seconds}) return;
                }
                post(number, turn);
            }
        } catch (InterruptedException end) {
            // The aviary closes.
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} board = new @{Class}();
        for (int n = 0; n < @{cages}; n++) {
            Cage cage = new Cage();
            cage.seen = n % 5;
            board.cages.add(cage);
        }
        long began = System.nanoTime();
        Thread census = new Thread(() -> {
            try {
                while (true) {
                    board.@{fnCamel}();
                    Thread.sleep((long) @{gap_ms}, (int) (@{gap_ms} * 1e6 % 1_000_000));
                }
            } catch (InterruptedException end) {
                // The aviary closes.
            }
        }, "@{thread}");
        census.setDaemon(true);
        census.start();
        List<Thread> keepers = new ArrayList<>();
        List<BlockingQueue<Long>> inboxes = new ArrayList<>();
        for (int n = 0; n < @{posters}; n++) {
            BlockingQueue<Long> inbox = new LinkedBlockingQueue<>();
            int number = n;
            inboxes.add(inbox);
            keepers.add(new Thread(() -> board.keeper(number, inbox, began), "keeper-" + n));
            keepers.get(n).start();
        }
        for (long turn = 1; @{queued} == 1 && since(began) < @{seconds}; turn++) {
            for (BlockingQueue<Long> inbox : inboxes) inbox.put(turn);
            double rest = turn / (double) @{rate} - since(began);
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        for (BlockingQueue<Long> inbox : inboxes) inbox.put(-1L);
        for (Thread keeper : keepers) keeper.join();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", board.units, board.busy, board.waited));
        System.exit(0);
    }
}
