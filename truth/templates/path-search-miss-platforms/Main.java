import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Makes the playlists of a station's loudspeakers: of each announcement the clips, with their times. */
public class @{Class} {
    private record Word(String clip, int pause, int stress) {}

    private final List<Path> order = new ArrayList<>();
    private final Map<String, Path> known = new HashMap<>();
    private long spent;

    @{Class}(Path voices) throws IOException {
        for (int i = 1; i <= @{layers}; i++) {
            order.add(voices.resolve("layer-" + i).resolve("@{sub}"));
        }
        order.add(voices.resolve("@{last}").resolve("@{sub}"));
        if ("@{way}".equals("listed")) {
            for (Path folder : order) {
                try (var entries = Files.newDirectoryStream(folder)) {
                    entries.forEach(one -> known.putIfAbsent(one.getFileName().toString(), one));
                }
            }
        }
        if ("@{way}".equals("first")) {
            for (int i = 0; i < @{used}; i++) {
                String clip = "c" + i + "@{ext}";
                known.put(clip, @{fnCamel}(clip));
            }
        }
    }

    private Path @{fnCamel}(String clip) {
        Path found = known.get(clip);
        if (found != null) {
            return found;
        }
        for (Path folder : order) {
            Path path = folder.resolve(clip);
            if (Files.isRegularFile(path)) {
                return path;
            }
        }
        throw new IllegalStateException("no clip " + clip);
    }

    private static List<Word> announcement(int number) {
        List<Word> words = new ArrayList<>();
        for (int i = 0; i < @{words}; i++) {
            words.add(new Word("c" + (number * 131 + i * 7) % @{used} + "@{ext}", 40 + (number + i) % 160, i % 3));
        }
        return words;
    }

    private String playlist(int number) {
        StringBuilder lines = new StringBuilder();
        int at = 0;
        for (Word word : announcement(number)) {
            long start = System.nanoTime();
            Path path = @{fnCamel}(word.clip());
            spent += System.nanoTime() - start;
            // How loud, by the hour and by the noise on the platform.
            double level = 60 + 8 * Math.sin(number / 86.4) + 2 * word.stress();
            lines.append(String.format(Locale.ROOT, "%08d %5.1f dB %s\n", at, level, path));
            at += 300 + word.clip().length() * 35 + word.pause();
        }
        return lines.toString();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} speakers = new @{Class}(Path.of("@{work}/@{voices}"));
        long began = System.nanoTime(), busy = 0, bytes = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            bytes += speakers.playlist(units).length();
            units++;
            busy += System.nanoTime() - start;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        System.out.println(bytes + " bytes of playlists");
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, speakers.spent / 1e9));
    }
}
