import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** The chart of a lagoon, brought up to date by the boats that sound it. */
public class @{Class} {
    static final int SIDE = @{side}, REACH = @{reach}, BOX = @{box};
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), waited = new AtomicLong();

    static class Sounding {
        final int x, y;
        final double depth;

        Sounding(String line) {
            String[] field = line.split(";");
            x = Integer.parseInt(field[0]);
            y = Integer.parseInt(field[1]);
            depth = Double.parseDouble(field[2]);
        }
    }

    static class Grid {
        final int left, top, width, height;
        final double[] sum, weight;

        Grid(int left, int top, int width, int height) {
            this.left = left;
            this.top = top;
            this.width = width;
            this.height = height;
            sum = new double[width * height];
            weight = new double[width * height];
        }

        void put(Sounding s) {
            for (int y = Math.max(s.y - REACH, 0); y <= Math.min(s.y + REACH, SIDE - 1); y++) {
                for (int x = Math.max(s.x - REACH, 0); x <= Math.min(s.x + REACH, SIDE - 1); x++) {
                    double w = Math.exp(-((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)) / (double) REACH);
                    sum[(y - top) * width + x - left] += w * s.depth;
                    weight[(y - top) * width + x - left] += w;
                }
            }
        }

        void add(Grid part) {
            for (int y = 0; y < part.height; y++) {
                int to = (y + part.top) * width + part.left;
                for (int x = 0; x < part.width; x++) {
                    sum[to + x] += part.sum[y * part.width + x];
                    weight[to + x] += part.weight[y * part.width + x];
                }
            }
        }
    }

    static class Chart {
        private final Grid all = new Grid(0, 0, SIDE, SIDE);
        private int edition;

        void @{fnCamel}(List<Sounding> survey) {
            if ("@{mode}".equals("beside")) {
                int left = SIDE, top = SIDE, right = 0, bottom = 0;
                for (Sounding s : survey) {
                    left = Math.min(left, Math.max(s.x - REACH, 0));
                    top = Math.min(top, Math.max(s.y - REACH, 0));
                    right = Math.max(right, Math.min(s.x + REACH + 1, SIDE));
                    bottom = Math.max(bottom, Math.min(s.y + REACH + 1, SIDE));
                }
                Grid part = new Grid(left, top, right - left, bottom - top);
                survey.forEach(part::put);
                long start = System.nanoTime();
                synchronized (all) {
                    waited.addAndGet(System.nanoTime() - start);
                    all.add(part);
                    edition++;
                }
                return;
            }
            long start = System.nanoTime();
            synchronized (all) {
                waited.addAndGet(System.nanoTime() - start);
                for (Sounding s : survey) all.put(s);
                edition++;
            }
        }

        double deepest() {
            double deep = 0;
            synchronized (all) {
                for (int at = 0; at < all.sum.length; at += 7) {
                    if (all.weight[at] > 0) deep = Math.max(deep, all.sum[at] / all.weight[at]);
                }
            }
            return deep;
        }
    }

    static String sail(Random chance) {
        StringBuilder text = new StringBuilder();
        int left = chance.nextInt(SIDE - BOX), top = chance.nextInt(SIDE - BOX);
        for (int i = 0; i < @{soundings}; i++) {
            text.append(left + chance.nextInt(BOX)).append(';').append(top + chance.nextInt(BOX)).append(';').append(chance.nextInt(400) / 10.0).append('\n');
        }
        return text.toString();
    }

    static List<Sounding> read(String text) {
        List<Sounding> survey = new ArrayList<>();
        for (String line : text.split("\n")) survey.add(new Sounding(line));
        return survey;
    }

    public static void main(String[] args) throws Exception {
        Chart chart = new Chart();
        Random chance = new Random(@{soundings});
        List<String> season = new ArrayList<>();
        for (int boat = 0; boat < 40; boat++) season.add(sail(chance));
        // Last year's surveys first; by then it is compiled.
        for (int boat = 0; boat < 400; boat++) chart.@{fnCamel}(read(season.get(boat % season.size())));
        waited.set(0);
        BlockingQueue<String> boats = new ArrayBlockingQueue<>(2);
        for (int i = 0; i < @{workers}; i++) {
            Thread worker = new Thread(() -> {
                try {
                    while (true) {
                        String text = boats.take();
                        long start = System.nanoTime();
                        chart.@{fnCamel}(read(text));
                        busy.addAndGet(System.nanoTime() - start);
                        units.incrementAndGet();
                    }
                } catch (InterruptedException end) {
                    return;
                }
            }, "boat-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        long began = System.nanoTime(), board = began;
        double deep = 0;
        for (long boat = 0; System.nanoTime() - began < @{seconds} * 1e9; boat++) {
            boats.put(season.get((int) (boat % season.size())));
            if (System.nanoTime() - board > 1_000_000_000L) {
                board = System.nanoTime();
                deep = chart.deepest();
            }
            long rest = began + (long) (boat / @{per_s} * 1e9) - System.nanoTime();
            if (rest > 0) Thread.sleep(rest / 1_000_000);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"deepest\": %f}",
            units.get(), busy.get() / 1e9, waited.get() / 1e9, deep));
    }
}
