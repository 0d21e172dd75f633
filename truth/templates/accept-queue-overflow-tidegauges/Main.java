import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** The station of the tide gauges: takes their levels, and answers with the deviation from what was predicted. */
public class @{Class} {
    private final Map<String, ArrayDeque<Double>> levels = new HashMap<>();

    static ServerSocket @{fnCamel}(int port) throws IOException {
        return new ServerSocket(port, @{queue}, InetAddress.getByName("127.0.0.1"));
    }

    /** What the tide would be without wind, by the harmonics of the place. */
    static double predicted(int at) {
        double sum = 0;
        for (int step = 0; step < 4000; step++)
            for (int term = 0; term < @{terms}; term++)
                sum += Math.cos((at + step) / (12.42 + term) + term) / (term + 1);
        return 300 + sum / 4000;
    }

    String take(String line) {
        String[] words = line.split(" ");
        double level = Double.parseDouble(words[1]);
        ArrayDeque<Double> series = levels.computeIfAbsent(words[0], gauge -> new ArrayDeque<>());
        series.add(level);
        if (series.size() > 200)
            series.poll();
        return String.format(Locale.ROOT, "%s %.2f\n", words[0], level - predicted(series.size()));
    }

    void serve(Socket call) {
        try (call; BufferedReader in = new BufferedReader(new InputStreamReader(call.getInputStream()))) {
            String line = in.readLine();
            if (line != null && line.indexOf(' ') > 0)
                call.getOutputStream().write(take(line).getBytes());
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} station = new @{Class}();
        try (ServerSocket door = @{fnCamel}(@{port})) {
            while (true)
                station.serve(door.accept());
        }
    }
}
