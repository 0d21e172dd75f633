import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Tells what a crossing costs: fare NUMBER, where the number is that of the booking. */
public class @{Class} {
    static class Settings {
        private final Path file;
        private double readAt = Double.NEGATIVE_INFINITY;
        private Map<String, String> values = Map.of();

        Settings(Path file) {
            this.file = file;
        }

        synchronized String get(String key) throws IOException {
            double now = System.nanoTime() / 1e9;
            if (now - readAt >= @{valid_s}) {
                Map<String, String> fresh = new HashMap<>();
                @{fnCamel}(file, fresh);
                values = fresh;
                readAt = now;
            }
            return values.get(key);
        }

        int number(String key) throws IOException {
            return Integer.parseInt(get(key));
        }

        private void @{fnCamel}(Path from, Map<String, String> into) throws IOException {
            try (BufferedReader lines = Files.newBufferedReader(from)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.isEmpty() || line.charAt(0) == '#')
                        continue;
                    if (line.startsWith("include ")) {
                        @{fnCamel}(from.resolveSibling(line.substring(8)), into);
                    } else {
                        int at = line.indexOf(" = ");
                        into.put(line.substring(0, at), line.substring(at + 3));
                    }
                }
            }
        }
    }

    private final Settings settings = new Settings(Path.of("@{work}/@{etc}/@{settings}"));

    int passenger(int kind, int here, int there) throws IOException {
        int cents = settings.number("zone." + here) + (here == there ? 0 : settings.number("zone." + there));
        return switch (kind) {
            case 0 -> cents;
            case 1 -> cents * settings.number("child") / 100;
            default -> cents + settings.number("bicycle");
        };
    }

    String answer(int number) throws IOException {
        int here = settings.number("pier." + (number % @{landings} + 1)), there = settings.number("pier." + (number * 13 % @{landings} + 1)), sum = 0;
        for (int i = 0; i < @{party}; i++)
            sum += passenger((number + i) % 3, here, there);
        int step = settings.number("rounding"), cents = (sum + step - 1) / step * step;
        return "booking " + number + ": " + cents / 100 + "." + (cents % 100 < 10 ? "0" : "") + cents % 100;
    }

    void serve(Socket socket) {
        try (socket; BufferedReader asked = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
            socket.setTcpNoDelay(true);
            for (String line = asked.readLine(); line != null; line = asked.readLine())
                socket.getOutputStream().write((answer(Integer.parseInt(line.split(" ")[1])) + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} fares = new @{Class}();
        try (ServerSocket door = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = door.accept();
                new Thread(() -> fares.serve(socket)).start();
            }
        }
    }
}
