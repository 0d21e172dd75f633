import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Lays out the receipts of the tills, and spools them for the printer. */
public class @{Class} {
    private Process script;
    private BufferedWriter questions;
    private BufferedReader answers;
    private int made;
    private long laying;

    private String @{fnCamel}(String receipt) throws IOException, InterruptedException {
        long start = System.nanoTime();
        if (script == null) {
            script = new ProcessBuilder("node", "@{work}/layout.js").redirectError(ProcessBuilder.Redirect.INHERIT).start();
            questions = script.outputWriter();
            answers = script.inputReader();
        }
        questions.write(receipt + "\n");
        questions.flush();
        String text = answers.readLine();
        if (++made % @{life} == 0)
            close();
        laying += System.nanoTime() - start;
        return text;
    }

    private void close() throws IOException, InterruptedException {
        if (script == null)
            return;
        questions.close();
        script.waitFor();
        answers.close();
        script = null;
    }

    private static String receipt(int number) {
        return IntStream.range(0, @{items})
            .mapToObj(i -> "[\"article " + (number * 31 + i * 7) % 500 + "\"," + Math.floorMod(number * 7919 + i * 104729, 9000) + "]")
            .collect(Collectors.joining(",", "{\"number\":" + number + ",\"items\":[", "]}"));
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        @{Class} layout = new @{Class}();
        if (@{life} > 1)
            layout.@{fnCamel}(receipt(0));
        long before = layout.laying, begin = System.nanoTime(), busy = 0;
        int units = 0;
        try (BufferedWriter spool = Files.newBufferedWriter(Path.of("@{work}/@{spool}"))) {
            while ((System.nanoTime() - begin) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                spool.write(layout.@{fnCamel}(receipt(++units)));
                busy += System.nanoTime() - start;
                Thread.sleep(Math.max(0, (long) (units * 1000.0 / @{rate} - (System.nanoTime() - begin) / 1e6)));
            }
        }
        layout.close();
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, (layout.laying - before) / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
