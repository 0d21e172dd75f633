import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Plans the order of a parade: each group has its wishes, and hears when the route changes. */
public class @{Class} {
    record Wish(String street, Integer minute, Double weight) {
    }

    static final class Group {
        final int number;
        final List<Wish> wishes = new ArrayList<>();
        final Map<String, Integer> news = new HashMap<>();

        Group(int number) {
            this.number = number;
        }
    }

    private final String[] streets = new String[@{town}];
    private final ArrayDeque<Group> listeners = new ArrayDeque<>();
    private final Map<Integer, List<Wish>> lastYear = new HashMap<>();

    @{Class}() {
        for (int i = 0; i < streets.length; i++) {
            streets[i] = "street " + i;
        }
    }

    void @{fnCamel}(Group group) {
        listeners.addLast(group);
        if (listeners.size() > @{open}) {
            listeners.removeFirst();
        }
    }

    Group enlist(int number) {
        Group group = new Group(number);
        for (int i = 0; i < @{positions} * 2; i++) {
            String street = streets[(number * 17 + i * 5) % streets.length];
            group.wishes.add(new Wish(street, 1000 + (number + i) % 600, (i % 50) / 7.0));
        }
        @{fnCamel}(group);
        return group;
    }

    double plan(Group group) {
        double sum = 0;
        for (Wish wish : group.wishes) {
            sum += wish.weight() * wish.minute();
        }
        if (lastYear.size() < @{warm}) {
            lastYear.put(group.number, group.wishes);
        }
        return sum / group.wishes.size();
    }

    void closed(int street) {
        int told = 0;
        for (var groups = listeners.descendingIterator(); groups.hasNext() && told < 20; told++) {
            groups.next().news.put(streets[street % streets.length], street);
        }
    }

    private static long collected() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    }

    public static void main(String[] words) throws IOException, InterruptedException {
        @{Class} parade = new @{Class}();
        long before = collected(), began = System.nanoTime(), busy = 0;
        int units = 0;
        double last = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            last += parade.plan(parade.enlist(units));
            if (units % 100 == 0) {
                parade.closed(units);
            }
            units++;
            busy += System.nanoTime() - start;
            long rest = began + units * 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        System.err.println("at " + last / units);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
            units, busy / 1e9, Math.min(busy / 1e9, (collected() - before) / 1e3)));
    }
}
