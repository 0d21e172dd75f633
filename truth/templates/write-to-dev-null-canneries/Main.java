import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The line of a cannery: how long each batch of tins has to be in the retort, and which tins are thrown out. */
public class @{Class} {
    static class Log {
        private final OutputStream out;
        private final int level;
        long spent;

        Log(String path, int level) throws IOException {
            out = new FileOutputStream(path, true);
            this.level = level;
        }

        void @{fnCamel}(int tin, int step, double core, double lethal) throws IOException {
            if (level < 3) return;
            long start = System.nanoTime();
            String line = "TRACE retort tin=" + tin + " step=" + step + " core=" + Math.round(core * 10) / 10.0 + " lethality=" + (float) lethal + "\n";
            out.write(line.getBytes(StandardCharsets.UTF_8));
            spent += System.nanoTime() - start;
        }

        void note(String text) throws IOException {
            long start = System.nanoTime();
            out.write(("INFO " + text + "\n").getBytes(StandardCharsets.UTF_8));
            spent += System.nanoTime() - start;
        }
    }

    /** The warmth at the tin's core after each step, from the outermost shell to the middle. */
    static double lethality(Log log, int batch, int tin) throws IOException {
        double[] shell = new double[@{cook}];
        java.util.Arrays.fill(shell, 18 + tin % 7);
        double lethal = 0, steam = 118 + batch % 6;
        for (int step = 0; step < @{steps}; step++) {
            for (int second = 0; second < 2; second++) {
                double outer = steam;
                for (int i = 0; i < shell.length; i++) {
                    double next = shell[i] + 0.3 * (outer - shell[i]);
                    outer = shell[i];
                    shell[i] = next;
                }
            }
            double core = shell[shell.length / 2];
            lethal += Math.pow(10, (core - 121.1) / 10);
            log.@{fnCamel}(tin, step, core, lethal);
        }
        return lethal;
    }

    public static void main(String[] args) throws Exception {
        Log log = new Log("@{work}/@{trace}", @{level});
        Map<Integer, Integer> thrownOut = new TreeMap<>();
        // The first batches are to fill the line.
        for (int batch = 0; batch < 60; batch++) {
            for (int tin = 0; tin < @{tins}; tin++) lethality(log, batch, tin);
        }
        if (@{night} == 1) log.note("the line is filled");
        log.spent = 0;
        long busy = 0, units = 0, began = System.nanoTime(), due = began;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            int bad = 0;
            for (int tin = 0; tin < @{tins}; tin++) {
                if (lethality(log, (int) units, tin) < 0.002) bad++;
            }
            thrownOut.merge((int) units % 40, bad, Integer::sum);
            if (@{night} == 1 && units % 20 == 0) log.note("batch " + units + ": " + bad + " of @{tins} thrown out");
            units++;
            busy += System.nanoTime() - start;
            due = Math.max(due + (long) (1e9 / @{per_s}), System.nanoTime());
            Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"kinds\": %d}",
            units, busy / 1e9, log.spent / 1e9, thrownOut.size()));
    }
}
