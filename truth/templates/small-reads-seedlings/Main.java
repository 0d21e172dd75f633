import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** Imports what the loggers in the greenhouses of a nursery have recorded: one file for each bed. */
public class @{Class} {
    private static final int[] REST = {@{short}, @{long}, @{short}, @{short} + 8};
    private static long spent;

    static final class Bed {
        long warmth, records;
        int wet;
        final int[] byKind = new int[4];

        boolean thirsty() {
            return wet < 10 || warmth / (1 + records) > 40000;
        }
    }

    private static Bed @{fnCamel}(InputStream from, int most) throws IOException {
        Bed bed = new Bed();
        byte[] head = new byte[@{head}], rest = new byte[@{long} + 48];
        ByteBuffer fields = ByteBuffer.wrap(rest).order(ByteOrder.LITTLE_ENDIAN);
        while (most == 0 || bed.records < most) {
            if (from.readNBytes(head, 0, head.length) < head.length)
                break;
            int kind = head[0] & 3;
            if (from.readNBytes(rest, 0, REST[kind]) < REST[kind])
                break;
            bed.warmth += fields.getShort(2) & 0xffff;
            bed.wet += (rest[5] & 0xff) > 200 ? 1 : 0;
            bed.byKind[kind]++;
            bed.records++;
        }
        return bed;
    }

    private static Bed imported(File path) throws IOException {
        try (InputStream file = new FileInputStream(path)) {
            if (@{buffer} > 0)
                return @{fnCamel}(new BufferedInputStream(file, Math.max(1, @{buffer})), @{used});
            long start = System.nanoTime();
            Bed bed = @{fnCamel}(file, @{used});
            spent += System.nanoTime() - start;
            return bed;
        }
    }

    public static void main(String[] arguments) throws Exception {
        File[] beds = new File(arguments[0]).listFiles();
        Arrays.sort(beds);
        int units = 0, thirsty = 0;
        long began = System.nanoTime(), busy = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            thirsty += imported(beds[units % beds.length]).thirsty() ? 1 : 0;
            units++;
            busy += System.nanoTime() - start;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1000000);
        }
        System.out.println(thirsty + " beds to water");
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, spent / 1e9));
    }
}
