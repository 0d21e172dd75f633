import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/** Keeps the ranking of a league: a result moves a player. */
public class @{Class} {
    record Player(int points, String name) {}

    private static final Comparator<Player> ORDER = Comparator.comparingInt(Player::points).reversed().thenComparing(Player::name);
    private final List<Player> players = new ArrayList<>();
    private final Map<String, Player> byName = new HashMap<>();

    private @{Class}() {
        for (int i = 0; i < @{players}; i++)
            players.add(new Player((int) (i * 7919L % 1000003), "player " + i));
        players.sort(ORDER);
        players.forEach(player -> byName.put(player.name(), player));
    }

    private void @{fnCamel}(int at, int points) {
        Player player = new Player(points, players.get(at).name());
        if ("@{keep}".equals("sort")) {
            byName.put(player.name(), player);
            players.clear();
            players.addAll(byName.values());
            players.sort(ORDER);
            return;
        }
        players.remove(at);
        int place = Collections.binarySearch(players, player, ORDER);
        players.add(place < 0 ? -place - 1 : place, player);
    }

    private long top() {
        long sum = 0;
        for (int i = 0; i < @{top} && i < players.size(); i++)
            sum += players.get(i).points();
        return sum;
    }

    private static double now() {
        return System.nanoTime() / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} ranking = new @{Class}();
        Random random = new Random(3);
        long units = 0, sum = 0;
        double busy = 0, culprit = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            int at = random.nextInt(@{players}), points = random.nextInt(1000003);
            double asked = now();
            ranking.@{fnCamel}(at, points);
            culprit += now() - asked;
            sum += ranking.top();
            units++;
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
        System.out.println(sum);
    }
}
