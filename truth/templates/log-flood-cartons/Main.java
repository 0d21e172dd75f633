import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.LocalTime;
import java.util.*;

public class @{Class} {
    /** Lines of the packing station; the file starts anew when it is big. */
    static class Journal {
        private final boolean detail = @{detail} == 1;
        private OutputStream out;
        private long size;
        long spent;

        void @{fnCamel}(String level, String text) throws IOException {
            byte[] line = (LocalTime.now() + " " + level + " [packer] " + text + "\n").getBytes(StandardCharsets.UTF_8);
            if (out == null || size > 96 << 20) {
                if (out != null) {
                    out.close();
                    Files.move(Path.of("@{work}/@{log}"), Path.of("@{work}/@{log}.1"), StandardCopyOption.REPLACE_EXISTING);
                }
                out = new FileOutputStream("@{work}/@{log}");
                size = 0;
            }
            out.write(line);
            size += line.length;
        }
    }

    record Item(int sku, int grams, int litres) { }

    static class Carton {
        final int number;
        int grams, litres;
        final List<Integer> skus = new ArrayList<>();

        Carton(int number) { this.number = number; }

        boolean fits(Item item) { return grams + item.grams <= 9000 && litres + item.litres <= 60; }

        @Override public String toString() { return "{no=" + number + " g=" + grams + " l=" + litres + " skus=" + skus + "}"; }
    }

    static final Journal journal = new Journal();

    static int pack(int order, Random random) throws IOException {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < @{items}; i++)
            items.add(new Item(10000 + random.nextInt(90000), 100 + random.nextInt(3000), 1 + random.nextInt(20)));
        items.sort(Comparator.comparingInt(Item::litres).reversed());
        List<Carton> cartons = new ArrayList<>();
        for (int i = 0; i < @{cartons}; i++)
            cartons.add(new Carton(i));
        int left = 0;
        for (Item item : items) {
            Carton best = null;
            int least = Integer.MAX_VALUE;
            for (int i = 0; i < @{tries}; i++) {
                Carton c = cartons.get(random.nextInt(cartons.size()));
                int room = 60 - c.litres - item.litres;
                if (c.fits(item) && room < least) {
                    best = c;
                    least = room;
                }
            }
            if (best == null) {
                left++;
                continue;
            }
            best.grams += item.grams;
            best.litres += item.litres;
            best.skus.add(item.sku);
            if (journal.detail) {
                long began = System.nanoTime();
                journal.@{fnCamel}("@{level}", "order " + order + " placed " + item + " in " + best.number + ", cartons now " + cartons);
                journal.spent += System.nanoTime() - began;
            }
        }
        journal.@{fnCamel}("INFO", "order " + order + " packed, " + left + " items left over");
        return left;
    }

    public static void main(String[] arguments) throws Exception {
        Random random = new Random(11);
        long began = System.nanoTime(), busy = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            pack(units++, random);
            busy += System.nanoTime() - start;
            long rest = began + (long) (units / (double) @{rate} * 1e9) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1000000, (int) (rest % 1000000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, journal.spent / 1e9));
    }
}
