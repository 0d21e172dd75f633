import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Makes stamps with the sender's own picture: it is drawn, darkened, and taken apart into its colours; the sheet gets a line of each. */
public class @{Class} {
    static final Path steps = Path.of("@{work}/@{steps}");
    static long stamps, between, ink;

    static byte[] @{fnCamel}(byte[] picture) throws IOException {
        if (@{files} == 0 || stamps % Math.max(1, @{files}) != @{files} - 1) return picture;
        long start = System.nanoTime();
        Path path = Files.createTempFile(steps, "@{prefix}", ".tmp");
        Files.write(path, picture);
        byte[] again = Files.readAllBytes(path);
        Files.delete(path);
        between += System.nanoTime() - start;
        return again;
    }

    static void make(byte[] paper) throws IOException {
        paper[(int) (stamps % paper.length)]++;
        byte[] picture = @{fnCamel}(paper);
        byte[] dark = @{fnCamel}(Arrays.copyOf(picture, picture.length));
        int part = dark.length / @{colours};
        for (int colour = 0; colour < @{colours}; colour++) {
            byte[] plate = @{fnCamel}(Arrays.copyOfRange(dark, colour * part, (colour + 1) * part));
            for (int i = 0; i < plate.length; i += 64) ink += plate[i] & 63;
        }
        stamps++;
    }

    public static void main(String[] words) throws Exception {
        byte[] paper = new byte[@{kb} * 1024];
        for (int i = 0; i < paper.length; i++) paper[i] = (byte) (i * 7);
        long busy = 0, end = System.nanoTime() + (long) (@{seconds} * 1e9);
        for (long start; (start = System.nanoTime()) < end; ) {
            make(paper);
            long took = System.nanoTime() - start;
            busy += took;
            long rest = (long) (1e9 / @{per_s}) - took;
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + stamps + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + between / 1e9 + ", \"ink\": " + ink + "}");
    }
}
