import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.CRC32;

/** Checks the backups that come in: a sum of each file of an archive. */
public class @{Class} {
    static final int BLOCK = 512, FACTOR = @{factor}, SAMPLES = @{samples};
    static long reading;

    /** Steps through the entries of an archive. */
    static class Archive implements AutoCloseable {
        private final InputStream in;
        private final byte[] block = new byte[BLOCK], piece = new byte[FACTOR];
        String name;
        long size;

        Archive(Path path) throws IOException {
            InputStream plain = new FileInputStream(path.toFile());
            in = FACTOR > BLOCK ? new BufferedInputStream(plain, FACTOR) : plain;
        }

        /** The next bytes of the archive; how many there are. */
        int @{fnCamel}(byte[] room, int most) throws IOException {
            long start = System.nanoTime();
            int got = in.readNBytes(room, 0, Math.min(most, room.length));
            reading += System.nanoTime() - start;
            return got;
        }

        boolean next() throws IOException {
            if (@{fnCamel}(block, BLOCK) < BLOCK || block[0] == 0) {
                return false;
            }
            int end = 0;
            while (end < 100 && block[end] != 0) {
                end++;
            }
            name = new String(block, 0, end, StandardCharsets.US_ASCII);
            size = Long.parseLong(new String(block, 124, 11, StandardCharsets.US_ASCII).trim(), 8);
            return true;
        }

        long sum() throws IOException {
            CRC32 sum = new CRC32();
            int left = (int) ((size + BLOCK - 1) / BLOCK * BLOCK), got;
            while (left > 0 && (got = @{fnCamel}(piece, left)) > 0) {
                sum.update(piece, 0, got);
                left -= got;
            }
            return sum.getValue();
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }

    static void check(Path path, PrintWriter catalogue) throws IOException {
        try (Archive archive = new Archive(path)) {
            while (archive.next()) {
                catalogue.printf("%s %08x%n", archive.name, archive.sum());
            }
        }
    }

    static void sample(Path path, PrintWriter catalogue, Random chance) throws IOException {
        byte[] block = new byte[BLOCK];
        try (RandomAccessFile archive = new RandomAccessFile(path.toFile(), "r")) {
            int blocks = (int) (archive.length() / BLOCK);
            for (int i = 0; i < SAMPLES; i++) {
                archive.seek((long) chance.nextInt(blocks) * BLOCK);
                archive.readFully(block);
                CRC32 sum = new CRC32();
                sum.update(block);
                catalogue.printf("%08x%n", sum.getValue());
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        long units = 0, busy = 0, began = System.nanoTime();
        Random chance = new Random(3);
        try (BufferedReader arrivals = Files.newBufferedReader(Path.of("@{work}/arrivals"));
                PrintWriter catalogue = new PrintWriter(Files.newBufferedWriter(Path.of("@{work}/catalogue.txt")))) {
            String line;
            while (System.nanoTime() - began < @{seconds} * 1e9 && (line = arrivals.readLine()) != null) {
                Path path = Path.of(line);
                long start = System.nanoTime();
                if (SAMPLES > 0) {
                    sample(path, catalogue, chance);
                } else {
                    check(path, catalogue);
                }
                busy += System.nanoTime() - start;
                units++;
                Files.delete(path);
            }
        }
        Files.writeString(Path.of("@{report}"), String.format("{\"units\": %d, \"seconds\": %.6f, \"culprit\": %.6f}", units, busy / 1e9, reading / 1e9));
    }
}
