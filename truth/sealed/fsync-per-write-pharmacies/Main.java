import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** Dispenses the prescriptions that a nursing home sends in for the day, and keeps the book of them. */
public class @{Class} {
    record Item(int patient, int drug, int packs, String batch) {
        String line(long number) {
            return String.join("|", Long.toString(number), "P" + patient, "D" + drug, Integer.toString(packs), batch) + "\n";
        }
    }

    static class Book implements AutoCloseable {
        private final FileChannel channel;
        private long lines;
        double waited;

        Book(Path path) throws IOException {
            channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        }

        void @{fnCamel}(Item item) throws IOException {
            channel.write(ByteBuffer.wrap(item.line(++lines).getBytes(StandardCharsets.US_ASCII)));
            if (lines % @{sync} == 0) {
                long start = System.nanoTime();
                channel.force(false);
                waited += (System.nanoTime() - start) / 1e9;
            }
        }

        @Override
        public void close() throws IOException {
            channel.force(true);
            channel.close();
        }
    }

    private final int[] shelf = new int[@{stock}];

    private int interactions(int patient, int drug) {
        int found = 0;
        for (int other = 0; other < shelf.length * 16; other++) {
            int pair = (drug * 31 ^ other * 17 ^ patient) & 0xfff;
            if (pair % 97 == 0 && other != drug) {
                found++;
            }
        }
        return found;
    }

    private Item pick(int run, int index) {
        int patient = (run * 37 + index) % 4000, drug = (patient * 13 + index * 7) % shelf.length;
        int packs = interactions(patient, drug) > 300 ? 1 : 1 + index % 3;
        shelf[drug] -= packs;
        if (shelf[drug] < 0) {
            shelf[drug] += 500;
        }
        return new Item(patient, drug, packs, String.format("LOT%05d", (drug * 7919 + run) % 100000));
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} pharmacy = new @{Class}();
        double busy = 0, culprit;
        int units = 0;
        try (Book book = new Book(Path.of(arguments[0], "@{book}"))) {
            long began = System.nanoTime();
            while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                for (int index = 0; index < @{items}; index++) {
                    book.@{fnCamel}(pharmacy.pick(units, index));
                }
                units++;
                busy += (System.nanoTime() - start) / 1e9;
                double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
                if (rest > 0) {
                    Thread.sleep((long) (rest * 1000));
                }
            }
            culprit = book.waited;
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }
}
