import java.io.FileWriter;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;

/** Keeps the tickets of a booth: each is a file, the next number is one more than the greatest. */
public class @{Class} {
    private static final Path FOLDER = Path.of("@{work}/@{folder}");
    private static long culprit = 0, sum = 0;
    private static DirectoryStream<Path> open;
    private static Iterator<Path> place;

    /** How many tickets there are of today. */
    private static int @{fnCamel}() throws IOException {
        long asked = System.nanoTime();
        int count = 0;
        try (DirectoryStream<Path> names = Files.newDirectoryStream(FOLDER)) {
            for (Path name : names)
                if (name.toString().endsWith(".today"))
                    count++;
        }
        culprit += System.nanoTime() - asked;
        return count;
    }

    private static void nextPart(int count) throws IOException {
        for (; count > 0; count--) {
            if (place == null || !place.hasNext()) {
                if (open != null)
                    open.close();
                open = Files.newDirectoryStream(FOLDER);
                place = open.iterator();
            }
            sum += place.next().toString().length();
        }
    }

    private static void print(long number) {
        for (int i = 0; i < @{extra} * 400_000; i++)
            sum = sum * 6364136223846793005L + number;
    }

    public static void main(String[] args) throws Exception {
        long units = 0, busy = 0, today = 0;
        long began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            if (@{part} > 0) {
                nextPart(@{part});
                today++;
            } else {
                today = @{fnCamel}() + 1;
            }
            Files.writeString(FOLDER.resolve("@{stem}-n" + units + ".today"), "ticket " + today);
            if (units >= 30)
                Files.delete(FOLDER.resolve("@{stem}-n" + (units - 30) + ".today"));
            print(today);
            units++;
            busy += System.nanoTime() - start;
            double rest = began / 1e6 + units * 1000.0 / @{rate} - System.nanoTime() / 1e6;
            if (rest >= 1)
                Thread.sleep((long) rest);
        }
        try (FileWriter out = new FileWriter("@{report}")) {
            out.write(String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"odd\": %d}", units, busy / 1e9, culprit / 1e9, sum & 1));
        }
    }
}
