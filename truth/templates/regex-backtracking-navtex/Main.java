// The desk of a coast radio station: what the tape brings for shipping, as a sheet to be read out.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class @{Class} {
    private static final Pattern HEAD = Pattern.compile("ZCZC ([A-Z])([A-Z])(\\d\\d)");
    private static final Pattern OFF = Pattern.compile("OFF ([A-Z]+)");
    private static final Pattern CLOSED = Pattern.compile("@{pattern}", Pattern.DOTALL);

    record Mast(double latitude, int power) {
        double worth(Map<String, Integer> waters) {
            double sum = 0;
            for (Map.Entry<String, Integer> water : waters.entrySet()) {
                double off = Math.acos(Math.min(1, Math.sin(latitude) * 0.83 + Math.cos(latitude) * 0.55 * Math.cos(water.getKey().length() / 90.0)));
                sum += water.getValue() * power / (1 + off);
            }
            return sum;
        }
    }

    record Bulletin(String code, String given, String body) {
        static Bulletin of(String text) {
            String[] parts = text.split("\n", 3);
            Matcher head = HEAD.matcher(parts[0]);
            if (!head.find()) throw new IllegalArgumentException(parts[0]);
            return new Bulletin(head.group(1) + head.group(2) + head.group(3), parts[1], parts[2].stripTrailing());
        }

        Map<String, Integer> waters() {
            Map<String, Integer> waters = new TreeMap<>();
            for (Matcher off = OFF.matcher(body); off.find(); ) waters.merge(off.group(1), 1, Integer::sum);
            return waters;
        }
    }

    private final List<Mast> masts = new ArrayList<>();
    private final Deque<String> sheet = new ArrayDeque<>();
    private long spent, endless;

    @{Class}(Path stations) throws IOException {
        for (String row : Files.readAllLines(stations)) {
            String[] words = row.split("[- N]+");
            masts.add(new Mast(Math.toRadians(Integer.parseInt(words[0]) + Integer.parseInt(words[1]) / 60.0), Integer.parseInt(words[words.length - 1])));
        }
    }

    private Optional<String> @{fnCamel}(String body) {
        Matcher found = CLOSED.matcher(body);
        if (!found.find()) {
            endless++;
            return Optional.empty();
        }
        StringBuilder text = new StringBuilder();
        for (int group = found.groupCount() - 2; group <= found.groupCount(); group++) {
            String part = found.group(group).strip();
            text.append(text.isEmpty() ? "" : " to ").append(part, 0, Math.min(6, part.length()));
        }
        return Optional.of(text.toString());
    }

    void take(String text) {
        Bulletin bulletin = Bulletin.of(text);
        Map<String, Integer> waters = bulletin.waters();
        long start = System.nanoTime();
        String closed = @{fnCamel}(bulletin.body()).orElse("no end");
        spent += System.nanoTime() - start;
        double best = masts.stream().mapToDouble(mast -> mast.worth(waters)).max().orElse(0);
        sheet.addLast(String.format(Locale.ROOT, "%s %s %.1f %s", bulletin.code(), bulletin.given(), best, closed));
        if (sheet.size() > 200) sheet.removeFirst();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} desk = new @{Class}(Path.of("@{work}/stations.conf"));
        String[] tape = Files.readString(Path.of("@{work}/@{tape}")).split("NNNN\n");
        long units = 0, busy = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            desk.take(tape[(int) (units++ % tape.length)]);
            busy += System.nanoTime() - start;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        System.out.println(units + " bulletins, " + desk.endless + " without an end; " + desk.sheet.peekLast());
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, desk.spent / 1e9));
    }
}
