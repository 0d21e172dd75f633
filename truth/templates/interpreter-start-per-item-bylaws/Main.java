import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.CRC32;

/** Brings the articles of the bylaws into the municipal gazette. */
public class @{Class} {
    private static final String[] SUBJECTS = {"the keeping of poultry", "the lighting of \"open fires\"", "the clearing of snow", "stalls on the market square"};

    private Process script;
    private BufferedWriter in;
    private BufferedReader out;
    private int set;

    private void open() throws IOException {
        script = new ProcessBuilder("/usr/bin/python3", "@{work}/@{script}").redirectError(ProcessBuilder.Redirect.INHERIT).start();
        in = script.outputWriter();
        out = script.inputReader();
        set = 0;
    }

    private void close() throws IOException, InterruptedException {
        in.close();
        script.waitFor();
        out.close();
        script = null;
    }

    private String @{fnCamel}(String text) throws IOException, InterruptedException {
        if (script == null) {
            open();
        }
        in.write(text);
        in.newLine();
        in.flush();
        String article = out.readLine();
        if (++set >= @{articles}) {
            close();
        }
        return article;
    }

    private static String draft(int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i <= @{clauses}; i++) {
            text.append(i > 0 ? "; " : "").append(SUBJECTS[(number + i) % SUBJECTS.length]).append(" is governed by Sec. ").append(i + 1);
            text.append(" and the fee of ").append((number * 31 + i * 7) % 90);
        }
        return text.toString();
    }

    /** Finds the page on which an article leaves the least room. */
    private static int place(String article) {
        long best = Long.MAX_VALUE;
        int page = 0;
        byte[] bytes = article.getBytes();
        for (int pass = 0; pass < @{passes}; pass++) {
            CRC32 room = new CRC32();
            room.update(bytes);
            room.update(pass);
            if (room.getValue() < best) {
                best = room.getValue();
                page = pass;
            }
        }
        return page;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} gazette = new @{Class}();
        int[] pages = new int[@{passes}];
        long began = System.nanoTime(), busy = 0, culprit = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            String text = draft(units);
            long set = System.nanoTime();
            String article = gazette.@{fnCamel}(text);
            culprit += System.nanoTime() - set;
            pages[place(article)]++;
            units++;
            busy += System.nanoTime() - start;
            long rest = (long) (units / @{per_s} * 1e9) - (System.nanoTime() - began);
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        if (gazette.script != null) {
            gazette.close();
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, culprit / 1e9));
    }
}
