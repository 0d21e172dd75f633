// A pollen service: stations report counts; each is weighed against what was counted nearby, and put on the map.
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

public class @{Class} {
    static final int TILES = @{tiles}, PARTS = @{parts}, KEPT = @{kept};

    record Count(int tile, float x, float y, float grains) {
        static Count by(SplittableRandom chance) {
            return new Count(chance.nextInt(TILES), chance.nextInt(10000) / 100f, chance.nextInt(10000) / 100f, chance.nextInt(10000) / 100f);
        }

        static Count of(String line) {
            String[] words = line.split(";");
            return new Count(Integer.parseInt(words[1]), Float.parseFloat(words[2]), Float.parseFloat(words[3]), Float.parseFloat(words[4]));
        }
    }

    static final class Part {
        final ReentrantLock @{lock} = new ReentrantLock();
        float[] x = new float[64], y = new float[64], grains = new float[64];
        int[] tiles = new int[64];
        int size, next;

        void put(int place, Count count) {
            tiles[place] = count.tile;
            x[place] = count.x;
            y[place] = count.y;
            grains[place] = count.grains;
        }

        void add(Count count) {
            if (size == x.length) {
                x = Arrays.copyOf(x, size * 2);
                y = Arrays.copyOf(y, size * 2);
                grains = Arrays.copyOf(grains, size * 2);
                tiles = Arrays.copyOf(tiles, size * 2);
            }
            put(size++, count);
        }

        float near(int i, Count now) {
            float across = x[i] - now.x, along = y[i] - now.y;
            return (float) Math.sqrt(across * across + along * along);
        }

        // What was counted nearby; the new one takes the place of the oldest.
        float @{fnCamel}(Count now) {
            long start = System.nanoTime();
            @{lock}.lock();
            try {
                waited.add((System.nanoTime() - start) / 1e9);
                float sum = 0, weight = 0.001f;
                for (int i = 0; i < size; i++) {
                    float far = near(i, now);
                    if (tiles[i] == now.tile && far < 20) {
                        sum += grains[i] / (1 + far);
                        weight += 1 / (1 + far);
                    }
                }
                put(next++ % size, now);
                return sum / weight;
            } finally {
                @{lock}.unlock();
            }
        }
    }

    static final Part[] map = new Part[PARTS];
    static final LongAdder units = new LongAdder(), warnings = new LongAdder();
    static final DoubleAdder busy = new DoubleAdder(), waited = new DoubleAdder();

    static void work(int number, long began) {
        SplittableRandom chance = new SplittableRandom(number);
        int reports = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < @{counts}; i++) {
                Count count = Count.by(chance);
                lines.add(number + ";" + count.tile + ";" + count.x + ";" + count.y + ";" + count.grains);
            }
            long start = System.nanoTime();
            for (String line : lines) {
                Count count = Count.of(line);
                float usual = map[count.tile % PARTS].@{fnCamel}(count);
                if (count.grains > usual * 1.9)
                    warnings.increment();
            }
            busy.add((System.nanoTime() - start) / 1e9);
            units.increment();
            double due = (++reports + number / (double) @{workers}) * @{workers} / @{rate};
            long rest = (long) (due * 1e3) - (System.nanoTime() - began) / 1_000_000;
            try {
                if (rest > 0)
                    Thread.sleep(rest);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < PARTS; i++)
            map[i] = new Part();
        SplittableRandom chance = new SplittableRandom(42);
        for (int i = 0; i < KEPT; i++) {
            Count count = Count.by(chance);
            map[count.tile % PARTS].add(count);
        }
        long began = System.nanoTime();
        List<Thread> workers = new ArrayList<>();
        for (int n = 0; n < @{workers}; n++) {
            int number = n;
            workers.add(new Thread(() -> work(number, began), "station-" + n));
            workers.get(n).start();
        }
        for (Thread worker : workers)
            worker.join();
        System.out.println(warnings.sum() + " warnings");
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.sum(), busy.sum(), waited.sum()));
    }
}
