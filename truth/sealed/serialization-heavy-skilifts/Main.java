import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;

/** The board of ski lifts: which run, what wind there is, how long one waits. */
public class @{Class} {
    static class Cabin implements Serializable {
        private static final long serialVersionUID = 1;
        int number;
        int seats;
        double hours;

        Cabin(int number, int seats, double hours) {
            this.number = number;
            this.seats = seats;
            this.hours = hours;
        }
    }

    static class Lift implements Serializable {
        private static final long serialVersionUID = 1;
        final String name;
        final String valley;
        final List<Cabin> cabins = new ArrayList<>();
        final int[] winds = new int[12];
        int queue;
        boolean runs;

        Lift(int number) {
            name = "Lift " + number;
            valley = "Valley " + number % 37;
            for (int i = 0; i < 6; i++) cabins.add(new Cabin(i, 4 + number % 5, number * 11.5 + i));
        }

        void hear(int wind, int waiting, boolean running) {
            if (winds[winds.length - 1] != wind) {
                System.arraycopy(winds, 1, winds, 0, winds.length - 1);
                winds[winds.length - 1] = wind;
            }
            queue = waiting;
            runs = running && wind < 80;
        }
    }

    final ArrayList<Lift> lifts = new ArrayList<>();
    final byte[][] before = new byte[@{lifts} + 1][];
    final Deque<String> news = new ArrayDeque<>();

    @{Class}() {
        for (int i = 0; i < @{lifts}; i++) lifts.add(new Lift(i));
    }

    boolean @{fnCamel}(int number) throws IOException {
        boolean all = "@{compare}".equals("all");
        int place = all ? @{lifts} : number;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(all ? lifts : lifts.get(number));
        }
        byte[] text = bytes.toByteArray();
        boolean changed = !Arrays.equals(text, before[place]);
        before[place] = text;
        return changed;
    }

    void tell(Lift lift) {
        int waits = lift.queue * 60 / lift.cabins.stream().mapToInt(cabin -> cabin.seats).sum();
        double wind = Arrays.stream(lift.winds).average().orElse(0);
        news.addLast(String.format(Locale.ROOT, "%s (%s): %s, %d min, wind %.1f", lift.name, lift.valley, lift.runs ? "runs" : "closed", waits, wind));
        if (news.size() > 50) news.removeFirst();
    }

    public static void main(String[] args) throws IOException {
        @{Class} board = new @{Class}();
        long busy = 0;
        long comparing = 0;
        int units = 0;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), @{feed});
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII), 512)) {
            long began = System.nanoTime();
            for (String line = in.readLine(); line != null && System.nanoTime() - began < @{seconds} * 1e9; line = in.readLine()) {
                long start = System.nanoTime();
                int[] words = Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
                Lift lift = board.lifts.get(words[0]);
                lift.hear(words[1], words[2], words[3] == 1);
                long asked = System.nanoTime();
                boolean changed = board.@{fnCamel}(words[0]);
                comparing += System.nanoTime() - asked;
                if (changed) board.tell(lift);
                units++;
                busy += System.nanoTime() - start;
            }
        }
        Files.write(Path.of("@{work}/board.txt"), board.news);
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, comparing / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
