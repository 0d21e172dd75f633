import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Prints sheets of the tide almanac: for a harbour the edition of its newest chart, and the heights of the water. */
public class @{Class} {
    static final File FOLDER = new File("@{work}/@{charts}");
    static final double[] SPEEDS = {28.984, 30.0, 28.439, 15.041, 13.943, 58.984, 57.968, 30.082};

    private final Map<Integer, Integer> newest = new HashMap<>();
    private long listed = -1;
    private long looking = 0;

    private void @{fnCamel}() throws IOException {
        String[] names = FOLDER.list();
        if (names == null)
            throw new IOException("no charts in " + FOLDER);
        newest.clear();
        for (String name : names)
            newest.merge(Integer.parseInt(name, 1, 4, 10), Integer.parseInt(name, 6, 8, 10), Math::max);
        listed = System.nanoTime();
    }

    int edition(int harbour) throws IOException {
        long start = System.nanoTime();
        if (listed < 0 || (start - listed) / 1e9 > @{keep})
            @{fnCamel}();
        looking += System.nanoTime() - start;
        return newest.getOrDefault(harbour, 0);
    }

    static String sheet(int harbour, int edition) {
        StringBuilder text = new StringBuilder("Harbour " + harbour + ", chart edition " + edition + "\n");
        for (int quarter = 0; quarter < @{hours} * 4; quarter++) {
            double height = 0;
            for (int i = 0; i < SPEEDS.length; i++)
                height += Math.cos(Math.toRadians(SPEEDS[i] * quarter / 4.0 + harbour * 7 + i * 40)) / (i + 1);
            text.append(quarter / 4).append('.').append(quarter % 4 * 25).append(' ').append(Math.round(height * 100) / 100.0).append('\n');
        }
        return text.toString();
    }

    public static void main(String[] args) throws Exception {
        @{Class} shelf = new @{Class}();
        int units = 0;
        long letters = 0, busy = 0, began = System.nanoTime(), tidied = began;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            int harbour = units * 37 % @{harbours};
            letters += sheet(harbour, shelf.edition(harbour)).length();
            units++;
            busy += System.nanoTime() - start;
            if (@{tidy} > 0 && (System.nanoTime() - tidied) / 1e9 > @{tidy}) {
                letters += FOLDER.list().length / 1000;
                tidied = System.nanoTime();
            }
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT,
            "{\"units\": %d, \"letters\": %d, \"seconds\": %f, \"culprit\": %f}", units, letters, busy / 1e9, shelf.looking / 1e9));
    }
}
