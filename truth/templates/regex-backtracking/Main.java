import java.util.regex.Pattern;

public class @{Class} {
    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        Thread.sleep(Math.max(0L, (long) ((due - now()) * 1000)));
    }

    static void report(long units, double busy, double culprit) throws java.io.IOException {
        String text = String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
        java.nio.file.Files.writeString(java.nio.file.Path.of("@{report}"), text);
    }

    static final Pattern END = Pattern.compile("\\s+$");

    /** The comment without the blanks behind it. */
    static String @{fnCamel}(String comment) {
        return @{careful} == 1 ? comment.stripTrailing() : END.matcher(comment).replaceAll("");
    }

    public static void main(String[] words) throws Exception {
        String[] comments = new String[5];
        for (int i = 0; i < comments.length; i++) {
            comments[i] = "// by hand " + i + " ".repeat(@{length}) + "-- end";
        }
        long units = 0, kept = 0;
        double busy = 0, culprit = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            kept += @{fnCamel}(comments[(int) (units % comments.length)]).length();
            culprit += now() - start;
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        report(units, busy, culprit);
        System.out.println(kept);
    }
}
