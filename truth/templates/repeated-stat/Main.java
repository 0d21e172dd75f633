import java.io.File;
import java.io.FileWriter;
import java.nio.file.Files;
import java.util.Locale;

/** Prices orders by a table that the shop may replace while we run. */
public class @{Class} {
    private static final File TABLE = new File("@{work}/@{deep}/@{watched}");
    private static long loaded = -1;
    private static long lastLook = Long.MIN_VALUE;
    private static int base = 0;
    private static long lookedNs = 0;

    private static int @{fnCamel}() throws Exception {
        long now = System.nanoTime();
        if (lastLook == Long.MIN_VALUE || now - lastLook >= @{recheck} * 1_000_000_000L) {
            lastLook = now;
            long changed = TABLE.lastModified();
            if (changed != loaded) {
                String text = Files.readString(TABLE.toPath());
                base = Integer.parseInt(text.replaceAll(".*\"base\": ([0-9]+).*", "$1").trim());
                loaded = changed;
            }
            lookedNs += System.nanoTime() - now;
        }
        return base;
    }

    private static long price(long order) throws Exception {
        long sum = 0;
        for (int line = 0; line < @{lines}; line++) {
            long quantity = order * 31 + line;
            int rate = @{fnCamel}();
            for (int i = 0; i < @{extra}; i++)
                quantity = quantity * 6364136223846793005L + rate;
            sum += quantity;
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        long units = 0, busy = 0, sum = 0;
        @{fnCamel}();
        lookedNs = 0;
        long began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            sum += price(units);
            units++;
            busy += System.nanoTime() - start;
            double rest = began / 1e6 + units * 1000.0 / @{rate} - System.nanoTime() / 1e6;
            if (rest >= 1)
                Thread.sleep((long) rest);
        }
        try (FileWriter out = new FileWriter("@{report}")) {
            out.write(String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"odd\": %d}", units, busy / 1e9, lookedNs / 1e9, sum & 1));
        }
    }
}
