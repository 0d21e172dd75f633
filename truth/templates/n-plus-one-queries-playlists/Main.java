import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Settles what a playlist owes: each track's seconds, to the town of who plays it. */
public class @{Class} {
    static class Database {
        final OutputStream out;
        final BufferedReader in;

        Database() throws IOException {
            Socket socket = new Socket("127.0.0.1", @{port});
            socket.setTcpNoDelay(true);
            out = socket.getOutputStream();
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        List<String[]> query(String text) throws IOException {
            out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
            List<String[]> rows = new ArrayList<>();
            for (String row : in.readLine().split("\t")) {
                rows.add(row.split(";"));
            }
            return rows;
        }
    }

    record Person(String name, String town) {
    }

    static class Track {
        final String title;
        final int seconds;
        private final String by;
        private Person person;

        Track(String[] row) {
            title = row[0];
            seconds = Integer.parseInt(row[1]);
            by = row[2];
            person = row.length > 4 ? new Person(row[3], row[4]) : null;
        }

        Person @{fnCamel}() throws IOException {
            if (person == null) {
                long start = System.nanoTime();
                String[] row = base.query("SELECT name, town FROM @{people} WHERE id = " + by + " LIMIT 1").get(0);
                spent += (System.nanoTime() - start) / 1e9;
                person = new Person(row[0], row[1]);
            }
            return person;
        }
    }

    static Database base;
    static double spent;

    static List<Track> tracks(int list) throws IOException {
        String wanted = "title, seconds, by_id", more = "";
        if (@{joined} == 1) {
            wanted += ", name, town";
            more = " JOIN @{people} p ON p.id = t.by_id";
        }
        String text = "SELECT " + wanted + " FROM lists l JOIN tracks t ON t.id = l.track" + more + " WHERE l.id = " + list + " ORDER BY place";
        return base.query(text).stream().map(Track::new).collect(Collectors.toList());
    }

    static String settle(int list) throws IOException {
        StringBuilder sheet = new StringBuilder();
        long cents = 0;
        for (Track track : tracks(list)) {
            Person person = track.@{fnCamel}();
            long owed = track.seconds * (person.town().endsWith("1") ? 3L : 4L);
            sheet.append(String.format(Locale.ROOT, "%-20s %-12s %6d%n", track.title, person.name(), owed));
            cents += owed;
        }
        return sheet.append(cents).toString();
    }

    public static void main(String[] arguments) throws Exception {
        base = new Database();
        long units = 0, letters = 0;
        double busy = 0;
        long began = System.nanoTime();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            letters += settle((int) (units % 50)).length();
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) {
                Thread.sleep((long) (rest * 1000));
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent));
        System.out.println(units + " sheets " + letters);
    }
}
