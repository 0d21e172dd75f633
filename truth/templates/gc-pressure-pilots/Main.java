import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The station of the harbour pilots: takes the ships' positions as they come over the air, keeps a track of each, and says when one comes into an area. */
public class @{Class} {
    static final boolean ANEW = "@{way}".equals("anew");
    static final int LENGTH = @{length};

    record Area(String name, double x, double y) {}

    record Message(int ship, long second, double x, double y) {}

    /** A place at which a ship was, as seen from where it is now. */
    record Fix(long second, double dx, double dy, double speed) {}

    interface Track {
        void add(Message message);

        /** How far the ship went, and how fast it was at most. */
        double[] summary();
    }

    static final class ListTrack implements Track {
        private List<Fix> fixes = new ArrayList<>();
        private double x, y;

        /** Of a ship that lay still until now. */
        ListTrack() {
            for (int i = 0; i < LENGTH; i++)
                fixes.add(new Fix(i - LENGTH, 0, 0, 0));
        }

        @Override
        public void add(Message message) {
            fixes = @{fnCamel}(message.second(), message.x() - x, message.y() - y);
            x = message.x();
            y = message.y();
        }

        private List<Fix> @{fnCamel}(long second, double dx, double dy) {
            List<Fix> moved = new ArrayList<>(LENGTH);
            int first = fixes.size() - LENGTH + 1;
            for (int i = first; i < fixes.size(); i++) {
                Fix fix = fixes.get(i);
                moved.add(new Fix(fix.second(), fix.dx() - dx, fix.dy() - dy, fix.speed()));
            }
            moved.add(new Fix(second, 0, 0, Math.hypot(dx, dy) / 10));
            return moved;
        }

        @Override
        public double[] summary() {
            double way = 0, fastest = 0;
            Fix last = null;
            for (Fix fix : fixes) {
                if (last != null)
                    way += Math.hypot(fix.dx() - last.dx(), fix.dy() - last.dy());
                fastest = Math.max(fastest, fix.speed());
                last = fix;
            }
            return new double[] {way, fastest};
        }
    }

    static final class RingTrack implements Track {
        private final long[] seconds = new long[LENGTH];
        private final double[] xs = new double[LENGTH], ys = new double[LENGTH], speeds = new double[LENGTH];
        private int count;

        @Override
        public void add(Message message) {
            int at = count % LENGTH, last = (count + LENGTH - 1) % LENGTH;
            speeds[at] = count == 0 ? 0 : Math.hypot(message.x() - xs[last], message.y() - ys[last]) / 10;
            seconds[at] = message.second();
            xs[at] = message.x();
            ys[at] = message.y();
            count++;
        }

        @Override
        public double[] summary() {
            int size = Math.min(count, LENGTH), first = count - size;
            double way = 0, fastest = 0;
            for (int i = first; i < count; i++) {
                int at = i % LENGTH, before = (i + LENGTH - 1) % LENGTH;
                if (i > first)
                    way += Math.hypot(xs[at] - xs[before], ys[at] - ys[before]);
                fastest = Math.max(fastest, speeds[at]);
            }
            return new double[] {way, fastest};
        }
    }

    private final List<Area> areas;
    private final Map<Integer, Track> tracks = new HashMap<>();
    private final Map<Integer, String> where = new HashMap<>();
    private final ArrayDeque<String> calls = new ArrayDeque<>();
    private final double[] xs = new double[@{fleet}], ys = new double[@{fleet}];
    private long heard, near;

    @{Class}(List<Area> areas) {
        this.areas = areas;
        for (int ship = 0; ship < @{fleet}; ship++)
            tracks.put(ship, ANEW ? new ListTrack() : new RingTrack());
    }

    static List<Area> readAreas(Path path) throws Exception {
        List<Area> areas = new ArrayList<>();
        for (String line : Files.readAllLines(path)) {
            String[] words = line.trim().split("\\s+");
            areas.add(new Area(words[0], Double.parseDouble(words[1]), Double.parseDouble(words[2])));
        }
        return areas;
    }

    /** What the receiver says next. */
    Message receive() {
        int ship = (int) (heard % @{fleet});
        long second = heard / @{fleet} * 10;
        heard++;
        double turn = ship * 0.7 + second / 900.0, far = @{reach} * (0.3 + 0.7 * Math.abs(Math.sin(second / 4000.0 + ship)));
        return new Message(ship, second, far * Math.cos(turn), far * Math.sin(turn));
    }

    /** How far off the next ship is. */
    double clearance(Message message) {
        double least = Double.MAX_VALUE;
        for (int other = 0; other < xs.length; other++) {
            double dx = xs[other] - message.x(), dy = ys[other] - message.y(), far = dx * dx + dy * dy;
            if (far < least && other != message.ship())
                least = far;
        }
        return Math.sqrt(least);
    }

    void take(Message message) {
        Track track = tracks.get(message.ship());
        track.add(message);
        xs[message.ship()] = message.x();
        ys[message.ship()] = message.y();
        if (clearance(message) < 30)
            near++;
        String here = "sea";
        for (Area area : areas)
            if (Math.hypot(message.x() - area.x(), message.y() - area.y()) < 2500)
                here = area.name();
        String before = where.put(message.ship(), here);
        if (before != null && !before.equals(here)) {
            double[] summary = track.summary();
            calls.add("ship " + message.ship() + " " + before + " to " + here + " after " + Math.round(summary[0]) + " m");
            if (calls.size() > 100)
                calls.poll();
        }
    }

    static double collected() {
        double milliseconds = 0;
        for (GarbageCollectorMXBean one : ManagementFactory.getGarbageCollectorMXBeans())
            milliseconds += one.getCollectionTime();
        return milliseconds / 1000;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} station = new @{Class}(readAreas(Path.of("@{work}/areas.txt")));
        long units = 0;
        double busy = 0, before = collected();
        long began = System.nanoTime();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            for (int i = 0; i < @{sweep} * 60; i++)
                station.take(station.receive());
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        System.err.println(station.tracks.size() + " ships, " + station.near + " times near, last call: " + station.calls.peekLast());
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy + ", \"culprit\": " + (collected() - before) + "}");
    }
}
