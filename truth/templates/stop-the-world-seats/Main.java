import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Books places in halls: all halls and their places are in memory. */
public class @{Class} {
    static final class Place {
        final String row;
        final int number;
        String guest;
        long since;

        Place(String row, int number) {
            this.row = row;
            this.number = number;
        }
    }

    static final class Hall {
        final Map<String, Place> places = new LinkedHashMap<>();
        final Map<Integer, String> notes = new HashMap<>();
    }

    private final Map<Integer, Hall> halls = new ConcurrentHashMap<>();
    private final AtomicLong bookings = new AtomicLong();

    void load() {
        for (int number = 0; number < @{held}; number++) {
            Hall hall = new Hall();
            for (int i = 0; i < @{places}; i++) {
                Place place = new Place("row " + (char) ('A' + i / 20), i % 20);
                hall.places.put(place.row + "/" + place.number, place);
                hall.notes.put(i, "seen from here: " + "x".repeat(@{letters}));
            }
            halls.put(number, hall);
        }
    }

    /** What was left by a booking is not to stay until it hurts. */
    void @{fnCamel}(long booking) {
        if (@{every} > 0 && booking % Math.max(1, @{every}) == 0)
            System.gc();
    }

    String book(int request) {
        Hall hall = halls.get(request * 31 % @{held});
        StringBuilder plan = new StringBuilder();
        Place best = null;
        synchronized (hall) {
            for (int look = 0; look < @{looks}; look++)
                for (Place place : hall.places.values()) {
                    plan.append(place.guest == null ? '.' : '#');
                    if (place.guest == null && (best == null || (place.number + look) % 9 < best.number % 9))
                        best = place;
                    if (plan.length() > 4000)
                        plan.setLength(0);
                }
            if (best != null) {
                best.guest = "guest " + request;
                best.since = System.currentTimeMillis();
            } else {
                hall.places.values().forEach(place -> place.guest = null);
            }
        }
        @{fnCamel}(bookings.incrementAndGet());
        return best == null ? "full" : best.row + " " + best.number;
    }

    private void serve(Socket counter) {
        try (counter; var lines = new BufferedReader(new InputStreamReader(counter.getInputStream()))) {
            counter.setTcpNoDelay(true);
            OutputStream out = counter.getOutputStream();
            for (String line; (line = lines.readLine()) != null; ) {
                String answer = book(Integer.parseInt(line.substring(line.indexOf(' ') + 1)));
                out.write((answer + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException gone) {
            // The counter has closed.
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} office = new @{Class}();
        office.load();
        System.gc();
        try (ServerSocket door = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress())) {
            for (int number = 0; ; number++) {
                Socket counter = door.accept();
                new Thread(() -> office.serve(counter), "counter-" + number).start();
            }
        }
    }
}
