import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.CRC32;

/** Turns monograms into the stitches of an embroidery machine. */
public class @{Class} {
    private static final int EDGE = @{edge}, CHUNK = 1 << 17;
    private static long culprit;
    private byte[] cloth = new byte[EDGE * EDGE];

    /** What one step has made goes to the next. */
    private void @{fnCamel}(int order, String step) throws IOException {
        if ((order + 1) % @{every} != 0)
            return;
        long start = System.nanoTime();
        Path file = Files.createTempFile(Path.of("@{work}", "@{spool}"), "@{stem}-", "." + step);
        try {
            try (OutputStream out = Files.newOutputStream(file)) {
                for (int at = 0; at < cloth.length; at += CHUNK)
                    out.write(cloth, at, Math.min(CHUNK, cloth.length - at));
            }
            try (InputStream in = Files.newInputStream(file)) {
                int at = 0, got;
                while (at < cloth.length && (got = in.read(cloth, at, Math.min(CHUNK, cloth.length - at))) > 0)
                    at += got;
            }
        } finally {
            Files.delete(file);
            culprit += System.nanoTime() - start;
        }
    }

    /** The letters on the cloth: which needle is where. */
    private void draw(String letters) {
        for (int y = 0; y < EDGE; y++) {
            byte letter = (byte) letters.charAt(y * letters.length() / EDGE);
            Arrays.fill(cloth, y * EDGE, y * EDGE + EDGE / 2, letter);
            Arrays.fill(cloth, y * EDGE + EDGE / 2, (y + 1) * EDGE, (byte) '.');
        }
    }

    /** The lower threads keep the cloth flat. */
    private void underlay(int layer) {
        for (int y = layer; y < EDGE; y += 7)
            System.arraycopy(cloth, (y * 31 % EDGE) * EDGE, cloth, y * EDGE, EDGE / 2);
    }

    private String stitch(int order) throws IOException {
        String letters = "" + (char) ('A' + order % 26) + (char) ('A' + order / 26 % 26) + (char) ('A' + order * 7 % 26);
        draw(letters);
        for (int layer = 0; layer < @{layers}; layer++) {
            @{fnCamel}(order, "layer" + layer);
            underlay(layer);
        }
        CRC32 seal = new CRC32();
        seal.update(cloth);
        return letters + " seal " + Long.toHexString(seal.getValue());
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} machine = new @{Class}();
        long began = System.nanoTime(), busy = 0, due = began;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            String answer = machine.stitch(units);
            busy += System.nanoTime() - start;
            if (units++ % 20 == 0)
                System.out.println(answer);
            due += (long) (1e9 / @{rate});
            long rest = (due - System.nanoTime()) / 1_000_000;
            if (rest > 0)
                Thread.sleep(rest);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
            units, busy / 1e9, culprit / 1e9));
    }
}
