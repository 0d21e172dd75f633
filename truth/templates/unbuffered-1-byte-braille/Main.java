import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Translates the week's texts to Braille, for the embosser in the basement. */
public class @{Class} {
    private static final String[] WORDS = "the reader and a friend go to knowledge for people with like but very just every rather so that us more not have this child still it as you will from do can".split(" ");
    private static final Map<String, String> SHORT = Map.ofEntries(Map.entry("the", "!"), Map.entry("and", "&"), Map.entry("for", "="), Map.entry("with", ")"),
            Map.entry("knowledge", "k"), Map.entry("people", "p"), Map.entry("like", "l"), Map.entry("but", "b"), Map.entry("very", "v"), Map.entry("just", "j"),
            Map.entry("every", "e"), Map.entry("rather", "r"), Map.entry("more", "m"), Map.entry("not", "n"), Map.entry("child", "*"), Map.entry("this", "?"));

    private final OutputStream embosser;
    private final OutputStream bell;

    @{Class}() throws IOException {
        OutputStream file = new FileOutputStream("@{work}/@{spool}");
        embosser = @{buffer} > 0 ? new BufferedOutputStream(file, Math.max(1, @{buffer})) : file;
        bell = new FileOutputStream("@{work}/bell");
    }

    static String text(int number) {
        StringBuilder text = new StringBuilder();
        long chance = number * 0x9E3779B97F4A7C15L + 1;
        while (text.length() < @{letters}) {
            chance = chance * 6364136223846793005L + 1442695040888963407L;
            text.append(WORDS[(int) (chance >>> 33) % WORDS.length]).append((chance >>> 60) == 3 ? ". " : " ");
        }
        return text.toString();
    }

    /** The cells of a text, in lines as the paper takes them. */
    static byte[] translate(String text) {
        StringBuilder lines = new StringBuilder();
        int column = 0;
        for (String word : text.split(" ")) {
            boolean ends = word.endsWith(".");
            String plain = ends ? word.substring(0, word.length() - 1) : word;
            String cells = SHORT.getOrDefault(plain, plain) + (ends ? "4" : "");
            if (column + cells.length() + 1 > @{cells}) {
                lines.append('\n');
                column = 0;
            } else if (column > 0) {
                lines.append(' ');
                column++;
            }
            lines.append(cells);
            column += cells.length();
        }
        return lines.append('\f').toString().getBytes(StandardCharsets.US_ASCII);
    }

    void @{fnCamel}(byte[] cells) throws IOException {
        for (byte cell : cells)
            embosser.write(cell);
        embosser.flush();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} room = new @{Class}();
        long began = System.nanoTime(), busy = 0, culprit = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            String text = text(units);
            long start = System.nanoTime();
            byte[] cells = translate(text);
            long translated = System.nanoTime();
            room.@{fnCamel}(cells);
            long embossed = System.nanoTime();
            for (int i = 0; i < @{bells}; i++)
                room.bell.write(7);
            busy += System.nanoTime() - start;
            culprit += embossed - translated;
            units++;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + culprit / 1e9 + "}");
    }
}
