import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** Tours of an operator: says what a change of a stop would cost. The change is tried on a draft, the tour stays as it is. */
public class @{Class} {
    static class Place implements Serializable {
        String name;
        double latitude, longitude;

        Place(int number) {
            name = "place-" + number + " " + "x".repeat(@{text});
            latitude = 46 + number * 37 % 900 / 100.0;
            longitude = 6 + number * 53 % 1100 / 100.0;
        }

        double kilometresTo(Place other) {
            double a = Math.toRadians(latitude), b = Math.toRadians(other.latitude), c = Math.toRadians(other.longitude - longitude);
            return 6371 * Math.acos(Math.min(1, Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(c)));
        }
    }

    static class Stop implements Serializable {
        Place place;
        int minutes;
        Integer cents;
        String guide;

        Stop(int number) {
            place = new Place(number);
            minutes = 20 + number % 70;
            cents = 300 + number * 131 % 4000;
            guide = "guide-" + number % 17;
        }
    }

    static class Day implements Serializable {
        final List<Stop> stops = new ArrayList<>();

        Day copy() {
            Day day = new Day();
            day.stops.addAll(stops);
            return day;
        }
    }

    static class Tour implements Serializable {
        final List<Day> days = new ArrayList<>();

        Tour(int length) {
            for (int d = 0; d < length; d++) {
                Day day = new Day();
                for (int s = 0; s < @{stops}; s++) {
                    day.stops.add(new Stop(d * 100 + s));
                }
                days.add(day);
            }
        }

        Tour(Tour tour) {
            days.addAll(tour.days);
        }

        /** Each day's shortest order of stops, going on to the next one that is nearest; a bus, and the tickets. */
        long cents() {
            double kilometres = 0;
            long cents = 0;
            for (Day day : days) {
                List<Stop> left = new ArrayList<>(day.stops);
                Place at = left.remove(0).place;
                while (!left.isEmpty()) {
                    int best = 0;
                    double nearest = Double.MAX_VALUE;
                    for (int i = 0; i < left.size(); i++) {
                        double way = at.kilometresTo(left.get(i).place);
                        if (way < nearest) {
                            nearest = way;
                            best = i;
                        }
                    }
                    Stop next = left.remove(best);
                    kilometres += nearest;
                    cents += next.cents;
                    at = next.place;
                }
            }
            return cents + Math.round(kilometres * 90);
        }
    }

    static final Tour tour = new Tour(@{days});

    static Tour @{fnCamel}(Tour from, int day) throws IOException, ClassNotFoundException {
        if ("@{copy}".equals("day")) {
            Tour draft = new Tour(from);
            draft.days.set(day, from.days.get(day).copy());
            return draft;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(from);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (Tour) in.readObject();
        }
    }

    static String change(int number) throws IOException, ClassNotFoundException {
        int day = number % @{days};
        Tour draft = @{fnCamel}(tour, day);
        draft.days.get(day).stops.set(number % @{stops}, new Stop(number * 7919 % 100_003));
        long cents = draft.cents();
        return String.format("tour %d.%02d, day %d", cents / 100, cents % 100, day + 1);
    }

    static void serve(Socket agent) {
        try (agent; BufferedReader lines = new BufferedReader(new InputStreamReader(agent.getInputStream()))) {
            agent.setTcpNoDelay(true);
            for (String line; (line = lines.readLine()) != null;) {
                int number = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
                agent.getOutputStream().write((change(number) + "\n").getBytes());
            }
        } catch (IOException | ClassNotFoundException error) {
            System.err.println("agent: " + error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            for (int number = 0;; number++) {
                Socket agent = door.accept();
                new Thread(() -> serve(agent), "agent-" + number).start();
            }
        }
    }
}
