import java.nio.file.*;
import java.util.*;
import java.util.concurrent.locks.ReentrantLock;

/** Replays the chips of a marathon: each mat on the course reads waves of runners and keeps the standings up to date. */
public class @{Class} {
    static final int RUNNERS = @{runners}, WAVE = @{wave}, GROUPS = @{age_groups}, BOARD = @{board};
    static final boolean LIVE = @{each} == 1;

    static final class Split {
        int bib, group;
        long millis;
    }

    /** Whoever came first is entered first: commentators complained about splits that overtook each other. */
    static final class Standings {
        private final ReentrantLock order = new ReentrantLock(true);
        private final long[] latest = new long[RUNNERS];
        private final int[] passed = new int[RUNNERS];
        private final long[][] best = new long[GROUPS][BOARD];
        private final int[] listed = new int[GROUPS];

        private void put(Split split) {
            latest[split.bib] = split.millis;
            passed[split.bib]++;
            long[] board = best[split.group];
            int rank = 0, all = listed[split.group];
            while (rank < all && board[rank] <= split.millis)
                rank++;
            if (rank == BOARD)
                return;
            listed[split.group] = Math.min(all + 1, BOARD);
            System.arraycopy(board, rank, board, rank + 1, Math.min(all, BOARD - 1) - rank);
            board[rank] = split.millis;
        }

        long @{fnCamel}(List<Split> splits) {
            long asked = System.nanoTime();
            order.lock();
            long waited = System.nanoTime() - asked;
            try {
                for (Split split : splits)
                    put(split);
            } finally {
                order.unlock();
            }
            return waited;
        }

        long finishers(int mats) {
            return Arrays.stream(passed).filter(n -> n >= mats).count();
        }
    }

    static final class Mat implements Runnable {
        final int number;
        final Standings standings;
        final Random chance;
        long units, busy, waited;

        Mat(int number, Standings standings) {
            this.number = number;
            this.standings = standings;
            this.chance = new Random(@{seed} + number);
        }

        Split decode(byte[] frame) {
            int check = 0;
            for (int i = 0; i < frame.length; i++)
                check = check * 31 + (frame[i] & 0xff);
            Split split = new Split();
            split.bib = Math.floorMod(check, RUNNERS);
            split.group = split.bib % GROUPS;
            split.millis = 3_600_000L + Math.floorMod(check >>> 3, 7_200_000);
            return split;
        }

        public void run() {
            long began = System.nanoTime(), end = began + (long) (@{seconds} * 1e9);
            long period = (long) (1e9 / @{rate});
            byte[] frame = new byte[24];
            List<Split> wave = new ArrayList<>();
            while (System.nanoTime() < end) {
                long due = began + units * period + period * number / @{mats};
                try {
                    long rest = due - System.nanoTime();
                    if (rest > 1000)
                        Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
                } catch (InterruptedException stopped) {
                    return;
                }
                long start = System.nanoTime();
                for (int i = 0; i < WAVE; i++) {
                    chance.nextBytes(frame);
                    wave.add(decode(frame));
                    if (LIVE || i == WAVE - 1) {
                        waited += standings.@{fnCamel}(wave);
                        wave.clear();
                    }
                }
                units++;
                busy += System.nanoTime() - start;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Standings standings = new Standings();
        List<Mat> mats = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < @{mats}; i++) {
            mats.add(new Mat(i, standings));
            threads.add(new Thread(mats.get(i), "mat-" + i));
        }
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        long units = 0, busy = 0, waited = 0;
        for (Mat mat : mats) {
            units += mat.units;
            busy += mat.busy;
            waited += mat.waited;
        }
        System.out.println(standings.finishers(mats.size()) + " have passed all mats");
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, waited / 1e9));
    }
}
