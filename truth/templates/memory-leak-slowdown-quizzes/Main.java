import java.lang.management.*;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Marks the answers of a quiz's players, round by round, and ranks them. */
public class @{Class} {
    static final class Marked {
        final String player, given;
        final int points;
        final long at;

        Marked(String player, String given, int points, long at) {
            this.player = player;
            this.given = given;
            this.points = points;
            this.at = at;
        }
    }

    static final int PLAYERS = @{players};
    // So many as the heap was laid out for, of an evening.
    static final int ANSWERS = (int) (@{heap_mb} * 1048576.0 * 0.72 / 152 / (@{rate} * @{seconds}));
    final Deque<List<Marked>> rounds = new ArrayDeque<>();
    final Map<String, Integer> points = new HashMap<>();
    long dropped;

    /** What was answered: as text, as it comes from the players, all of a round in one body, which may be so large. */
    static ByteBuffer receive(int round) {
        ByteBuffer body = ByteBuffer.allocate(@{body});
        for (int answer = 0; answer < ANSWERS; answer++) {
            int player = (answer * 31 + round) % PLAYERS;
            String text = "player-" + player + ";q" + answer % @{questions} + ";" + Integer.toHexString(answer * 7919 ^ round * 104729) + ";" + (answer * 37 + round) % 100 + "\n";
            body.put(text.getBytes(StandardCharsets.US_ASCII));
        }
        return body.flip();
    }

    static String word(ByteBuffer body, char end) {
        int from = body.position(), to = from;
        while (body.get(to) != end) to++;
        body.position(to + 1);
        return new String(body.array(), from, to - from, StandardCharsets.US_ASCII);
    }

    static int mark(String given, int haste) {
        int sum = 0;
        for (int at = 0; at < given.length(); at++) sum = sum * 31 + given.charAt(at);
        return Math.floorMod(sum, 7) == 0 ? 0 : 10 + haste / 10;
    }

    /** For the case that somebody protests. */
    void @{fnCamel}(List<Marked> round) {
        rounds.addLast(round);
        while (rounds.size() > @{kept}) {
            rounds.removeFirst();
            dropped++;
        }
    }

    List<String> rank() {
        List<Map.Entry<String, Integer>> table = new ArrayList<>(points.entrySet());
        table.sort(Map.Entry.<String, Integer>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()));
        List<String> best = new ArrayList<>();
        for (Map.Entry<String, Integer> entry : table.subList(0, Math.min(10, table.size()))) best.add(entry.getKey() + " " + entry.getValue());
        return best;
    }

    List<String> play(int round) {
        List<Marked> marked = new ArrayList<>();
        ByteBuffer body = receive(round);
        while (body.hasRemaining()) {
            String player = word(body, ';');
            word(body, ';');
            String given = word(body, ';');
            int got = mark(given, Integer.parseInt(word(body, '\n')));
            marked.add(new Marked(player, given, got, System.currentTimeMillis()));
            points.merge(player, got, Integer::sum);
        }
        @{fnCamel}(marked);
        return rank();
    }

    static double collected() {
        double ms = 0;
        for (GarbageCollectorMXBean one : ManagementFactory.getGarbageCollectorMXBeans()) ms += one.getCollectionTime();
        return ms / 1000;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} quiz = new @{Class}();
        long began = System.nanoTime();
        int units = 0;
        double busy = 0, before = collected();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            List<String> best = quiz.play(units);
            if (best.isEmpty()) throw new IllegalStateException("nobody plays");
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, collected() - before);
        Files.writeString(Path.of("@{report}"), text);
    }
}
