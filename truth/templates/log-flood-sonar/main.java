import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.FileHandler;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Counts fish in the beams of an echo sounder at a fish ladder. */
public class @{Class} {
    static final Logger log = Logger.getLogger("ladder.beams");
    static long writing, fish;

    static double[] echoes(long ping) {
        double[] depths = new double[@{beams}];
        for (int beam = 0; beam < depths.length; beam++) depths[beam] = @{ground} * (1 + Math.sin(ping / 40.0) * 0.1 * beam / depths.length) - ((ping + beam) % 17 == 0 ? 3 : 0);
        return depths;
    }

    static void @{fnCamel}(long ping, double[] depths, double mean) {
        long start = System.nanoTime();
        if (log.isLoggable(Level.FINE)) {
            for (int beam = 0; beam < depths.length; beam++) {
                log.fine("ping " + ping + " beam " + beam + ": angle " + (beam * 120 / depths.length - 60) + ", depth " + depths[beam] + " m, quality " + beam % 7 + ", gain " + (40 + beam % 9) + " dB");
            }
        }
        if (ping % @{every} == 0) log.info("ping " + ping + ": ground at " + mean + " m");
        writing += System.nanoTime() - start;
    }

    static void look(long ping) {
        double[] depths = echoes(ping);
        double sum = 0;
        for (double depth : depths) sum += depth;
        for (double depth : depths) if (depth < sum / depths.length - 2) fish++;
        @{fnCamel}(ping, depths, sum / depths.length);
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        FileHandler file = new FileHandler("@{work}/@{journal}");
        file.setFormatter(new SimpleFormatter());
        file.setLevel(Level.ALL);
        log.setUseParentHandlers(false);
        log.addHandler(file);
        log.setLevel(@{detail} == 1 ? Level.FINE : Level.INFO);
        long pings = 0, busy = 0, end = System.nanoTime() + (long) (@{seconds} * 1e9);
        for (long start; (start = System.nanoTime()) < end; ) {
            look(pings++);
            long took = System.nanoTime() - start;
            busy += took;
            long rest = (long) (1e9 / @{per_s}) - took;
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + pings + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + writing / 1e9 + ", \"fish\": " + fish + "}");
    }
}
