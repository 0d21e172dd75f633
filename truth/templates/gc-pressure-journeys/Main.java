// Planner of journeys by bus: how far one gets from a stop, and when.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

public class @{Class} {
    static final int STOPS = @{stops}, WIDTH = 300, REACH = @{reach};
    static final String[] KINDS = {"Mill", "Church", "School", "Station", "Bridge"};

    record Ride(Stop to, int minutes) {}

    static final class Stop {
        final int number;
        final String name;
        final Ride[] rides = new Ride[4];

        Stop(int number) {
            this.number = number;
            name = KINDS[number % 5] + " " + number / 5;
        }
    }

    static final class Label implements Comparable<Label> {
        final Stop at;
        final Label from;
        final int minutes;

        Label(Stop at, Label from, int minutes) {
            this.at = at;
            this.from = from;
            this.minutes = minutes;
        }

        @Override
        public int compareTo(Label other) {
            return Integer.compare(minutes, other.minutes);
        }
    }

    record Journey(int minutes, int rides) {}

    interface Search {
        Journey @{fnCamel}(int start);
    }

    static final Stop[] stops = new Stop[STOPS];

    static void read() {
        for (int i = 0; i < STOPS; i++) stops[i] = new Stop(i);
        int[] steps = {1, STOPS - 1, WIDTH, STOPS - WIDTH};
        for (int i = 0; i < STOPS; i++) {
            for (int k = 0; k < 4; k++) stops[i].rides[k] = new Ride(stops[(i + steps[k]) % STOPS], 2 + (int) ((i * 7919L + k * 104729L) % 11));
        }
    }

    /** Notes an arrival by an object that knows where one came from. */
    static class Labels implements Search {
        @Override
        public Journey @{fnCamel}(int start) {
            Map<Stop, Label> best = new HashMap<>();
            PriorityQueue<Label> waiting = new PriorityQueue<>();
            Label last = new Label(stops[start], null, 0);
            best.put(last.at, last);
            waiting.add(last);
            for (int settled = 0; settled < REACH && !waiting.isEmpty(); ) {
                Label one = waiting.poll();
                if (best.get(one.at) != one) continue;
                settled++;
                last = one;
                for (Ride ride : one.at.rides) {
                    int then = one.minutes + ride.minutes;
                    Label known = best.get(ride.to);
                    if (known == null || then < known.minutes) {
                        Label next = new Label(ride.to, one, then);
                        best.put(ride.to, next);
                        waiting.add(next);
                    }
                }
            }
            int rides = 0;
            for (Label one = last; one.from != null; one = one.from) rides++;
            return new Journey(last.minutes, rides);
        }
    }

    /** Notes the arrivals in a table that is kept for the next search. */
    static class Table implements Search {
        private final int[] minutes = new int[STOPS], from = new int[STOPS], round = new int[STOPS];
        private final boolean[] done = new boolean[STOPS];
        private long[] heap = new long[1024];
        private int size, now;

        private void push(long entry) {
            if (size == heap.length) heap = Arrays.copyOf(heap, 2 * size);
            int i = size++;
            for (; i > 0 && heap[(i - 1) / 2] > entry; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
            heap[i] = entry;
        }

        private long pop() {
            long top = heap[0], moved = heap[--size];
            int i = 0;
            for (int child = 1; child < size; child = 2 * i + 1) {
                if (child + 1 < size && heap[child + 1] < heap[child]) child++;
                if (heap[child] >= moved) break;
                heap[i] = heap[child];
                i = child;
            }
            heap[i] = moved;
            return top;
        }

        private void note(int number, int source, int then) {
            if (round[number] == now && minutes[number] <= then) return;
            round[number] = now;
            minutes[number] = then;
            from[number] = source;
            done[number] = false;
            push((long) then << 32 | number);
        }

        @Override
        public Journey @{fnCamel}(int start) {
            now++;
            size = 0;
            note(start, -1, 0);
            int last = start;
            for (int settled = 0; settled < REACH && size > 0; ) {
                int number = (int) pop();
                if (done[number]) continue;
                done[number] = true;
                settled++;
                last = number;
                for (Ride ride : stops[number].rides) note(ride.to.number, number, minutes[number] + ride.minutes);
            }
            int rides = 0;
            for (int one = from[last]; one >= 0; one = from[one]) rides++;
            return new Journey(minutes[last], rides);
        }
    }

    static void talk(Socket passenger) {
        Search search = "@{labels}".equals("table") ? new Table() : new Labels();
        try (passenger; BufferedReader lines = new BufferedReader(new InputStreamReader(passenger.getInputStream(), StandardCharsets.UTF_8))) {
            passenger.setTcpNoDelay(true);
            OutputStream out = passenger.getOutputStream();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int start = (int) (Long.parseLong(line.substring(5)) * 7919 % STOPS);
                Journey found = search.@{fnCamel}(start);
                String answer = stops[start].name + ": " + REACH + " stops, " + found.minutes + " minutes, " + found.rides + " rides\n";
                out.write(answer.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException error) {
            System.err.println(error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        read();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket passenger = door.accept();
                new Thread(() -> talk(passenger)).start();
            }
        }
    }
}
