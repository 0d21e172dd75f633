import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Plans the concerts of an orchestra. */
public class @{Class} {
    static final boolean KEEPS = !"@{line}".equals("work");

    /** A line to the society of rights. */
    static class Line implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;

        Line() throws IOException {
            socket = new Socket("127.0.0.1", @{society});
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream());
            get("/session/orchestra-17");
        }

        String get(String path) throws IOException {
            String ask = "GET " + path + " HTTP/1.1\r\nHost: society\r\n\r\n";
            socket.getOutputStream().write(ask.getBytes(StandardCharsets.US_ASCII));
            int length = 0;
            for (String line; !(line = line()).isEmpty(); ) {
                if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                    length = Integer.parseInt(line.substring(15).trim());
                }
            }
            return new String(in.readNBytes(length), StandardCharsets.UTF_8);
        }

        private String line() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int c; (c = in.read()) != '\n'; ) {
                if (c < 0) {
                    throw new IOException("the society has hung up");
                }
                if (c != '\r') {
                    line.append((char) c);
                }
            }
            return line.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    static final Pattern CENTS = Pattern.compile("\"cents\":(\\d+)");
    static Line kept;
    static long took;

    static int @{fnCamel}(int work) throws IOException {
        long start = System.nanoTime();
        Line line = kept != null ? kept : new Line();
        Matcher cents = CENTS.matcher(line.get("/works/" + work));
        if (KEEPS) {
            kept = line;
        } else {
            line.close();
        }
        took += System.nanoTime() - start;
        return cents.find() ? Integer.parseInt(cents.group(1)) : 0;
    }

    record Piece(int work, int minutes, int cents) { }

    static List<Piece> plan(int number) throws IOException {
        List<Piece> programme = new ArrayList<>();
        for (int place = 0; place < @{works}; place++) {
            int work = number * 31 + place * 7;
            boolean asks = (number * @{works} + place) % @{free} == 0;
            programme.add(new Piece(work, 4 + work % 40, asks ? @{fnCamel}(work) : 0));
        }
        programme.sort(Comparator.comparingInt(Piece::minutes));
        return programme;
    }

    public static void main(String[] arguments) throws Exception {
        long units = 0, busy = 0, cents = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            for (Piece piece : plan((int) units)) {
                cents += piece.cents;
            }
            units++;
            busy += System.nanoTime() - start;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1000000, (int) (rest % 1000000));
            }
        }
        String report = String.format("{\"units\": %d, \"seconds\": %.6f, \"culprit\": %.6f, \"cents\": %d}", units, busy / 1e9, took / 1e9, cents);
        Files.writeString(Path.of("@{report}"), report);
    }
}
