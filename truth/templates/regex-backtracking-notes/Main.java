import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;

/** Tidies the notes that customers leave with their orders, and counts what they mention. */
public class @{Class} {
    private static final String[] WORDS = "please leave at the door ring twice gift second floor".split(" ");
    private static final Pattern TRAILING = Pattern.compile("[ \\t]+$", Pattern.MULTILINE);

    private static double now() {
        return System.nanoTime() / 1e9;
    }

    private static String note(int number) {
        StringBuilder text = new StringBuilder();
        for (int line = 0; line < @{lines}; line++) {
            for (int word = 0; word < @{words}; word++) {
                // Pasted from a form with columns.
                if (word == @{words} / 2)
                    text.append(" ".repeat(@{blanks} - number % 5 * (@{blanks} >> 5)));
                text.append(WORDS[(number * 7 + line * 3 + word) % WORDS.length]).append(word + 1 < @{words} ? " " : "");
            }
            text.append(" ".repeat(number % 4)).append('\n');
        }
        return text.toString();
    }

    private static String @{fnCamel}(String text) {
        if ("@{pattern}".equals("cut")) {
            StringBuilder tidy = new StringBuilder(text.length());
            text.lines().forEach(line -> tidy.append(line.stripTrailing()).append('\n'));
            return tidy.toString();
        }
        return TRAILING.matcher(text).replaceAll("");
    }

    public static void main(String[] arguments) throws Exception {
        int units = 0;
        long mentioned = 0;
        double busy = 0, culprit = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            String text = note(units);
            double asked = now();
            String tidy = @{fnCamel}(text);
            culprit += now() - asked;
            for (int at = tidy.indexOf("gift"); at >= 0; at = tidy.indexOf("gift", at + 1))
                mentioned++;
            units++;
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
        System.out.println(mentioned);
    }
}
