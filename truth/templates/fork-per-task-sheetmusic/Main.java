import java.io.*;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;
import java.util.stream.*;

/** Takes scores into the library: who has the same one already, what shelf mark it gets, and the line of the catalogue. */
public class @{Class} {
    record Score(String name, String mark, int copies) {}

    private static final String[] KEYS = {"C", "G", "D", "A", "E", "B", "F#", "Db", "Ab", "Eb", "Bb", "F"};
    private final List<Path> scores;
    private final Map<String, Score> known = new HashMap<>();
    private double started;

    @{Class}(Path shelf) throws IOException {
        try (Stream<Path> all = Files.list(shelf)) {
            scores = all.sorted().collect(Collectors.toList());
        }
    }

    static double now() {
        return System.nanoTime() / 1e9;
    }

    List<String> @{fnCamel}(List<Path> paths) throws Exception {
        List<String> prints = new ArrayList<>();
        if ("@{prints}".equals("here")) {
            MessageDigest digest = MessageDigest.getInstance(switch ("@{tool}") {
                case "sha1sum" -> "SHA-1";
                case "md5sum" -> "MD5";
                default -> "SHA-256";
            });
            for (Path path : paths)
                prints.add(HexFormat.of().formatHex(digest.digest(Files.readAllBytes(path))));
            return prints;
        }
        double began = now();
        List<String> command = new ArrayList<>(List.of("@{tool}"));
        paths.forEach(path -> command.add(path.toString()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader said = process.inputReader()) {
            said.lines().forEach(line -> prints.add(line.substring(0, line.indexOf(' '))));
        }
        if (process.waitFor() != 0)
            throw new IOException("@{tool} ended with " + process.exitValue());
        started += now() - began;
        return prints;
    }

    static String mark(String print) {
        int value = 0;
        for (char digit : print.toCharArray())
            value = (value * 16 + Character.digit(digit, 16)) % 99991;
        return KEYS[value % 12] + "-" + value;
    }

    void take(int number, int many) throws Exception {
        List<Path> paths = new ArrayList<>();
        for (int i = 0; i < many; i++)
            paths.add(scores.get((number * many + i) % scores.size()));
        List<String> prints = @{fnCamel}(paths);
        for (int i = 0; i < many; i++) {
            Score old = known.get(prints.get(i));
            known.put(prints.get(i), new Score(paths.get(i).getFileName().toString(), mark(prints.get(i)), old == null ? 1 : old.copies() + 1));
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} library = new @{Class}(Path.of("@{work}/@{shelf}"));
        double began = now(), busy = 0;
        int units = 0;
        while (now() - began < @{seconds}) {
            double start = now();
            library.take(units++, @{parcel});
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, library.started));
    }
}
