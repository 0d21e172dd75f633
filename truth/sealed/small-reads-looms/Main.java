import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** Checks the patterns of a weaving mill before they go to the looms: a weft is its colour and a bit for each warp that it goes under. */
public class @{Class} {
    static final int WIDTH = @{width};

    static final class Plans implements AutoCloseable {
        private final FileInputStream file;
        private final FileChannel channel;
        private final long count;
        private InputStream reader;

        Plans(String path) throws IOException {
            file = new FileInputStream(path);
            channel = file.getChannel();
            count = channel.size() / WIDTH;
            reader = new BufferedInputStream(file, @{block});
        }

        private void next(byte[] weft) throws IOException {
            if (reader.readNBytes(weft, 0, WIDTH) == WIDTH)
                return;
            channel.position(0);
            reader = new BufferedInputStream(file, @{block});
            if (reader.readNBytes(weft, 0, WIDTH) != WIDTH)
                throw new EOFException("no plans");
        }

        private void at(long place, byte[] weft) throws IOException {
            channel.read(ByteBuffer.wrap(weft), Math.floorMod(place, count) * WIDTH);
        }

        int @{fnCamel}(long order, byte[][] cloth) throws IOException {
            if (@{single} > 0) {
                for (int mend = 0; mend < @{single}; mend++)
                    at((order * 7919 + mend) * 2_654_435_761L, cloth[mend]);
                return @{single};
            }
            for (byte[] weft : cloth)
                next(weft);
            return cloth.length;
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    /** A warp that is not bound for long floats, and is torn soon. */
    static final class Findings {
        long lifted, floats;
        final long[] yarn = new long[12];

        void inspect(byte[][] cloth, int wefts) {
            int[] loose = new int[WIDTH];
            for (int i = 0; i < wefts; i++) {
                byte[] weft = cloth[i];
                int lifts = 0;
                for (int group = 1; group < WIDTH; group++) {
                    lifts += Integer.bitCount(weft[group] & 255);
                    loose[group] = weft[group] == 0 ? loose[group] + 1 : 0;
                    if (loose[group] > 2)
                        floats++;
                }
                lifted += lifts;
                yarn[(weft[0] & 255) % 12] += 160 + lifts / 8;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        byte[][] cloth = new byte[@{rows}][WIDTH];
        Findings findings = new Findings();
        long units = 0;
        double busy = 0, spent = 0;
        long began = System.nanoTime();
        try (Plans plans = new Plans(arguments[0])) {
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                int wefts = plans.@{fnCamel}(units, cloth);
                spent += (System.nanoTime() - start) / 1e9;
                findings.inspect(cloth, wefts);
                units++;
                busy += (System.nanoTime() - start) / 1e9;
                long rest = began + (long) (units / @{rate} * 1e9) - System.nanoTime();
                if (rest > 0)
                    Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        System.out.println(findings.lifted + " lifts, " + findings.floats + " floats, yarn " + Arrays.toString(findings.yarn));
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent));
    }
}
