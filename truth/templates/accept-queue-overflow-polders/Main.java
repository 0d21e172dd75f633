import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The station of a water board: takes the gauges' levels, and answers how far the pumps should open. */
public class @{Class} {
    private final Map<String, double[]> levels = new HashMap<>();

    private static ServerSocket @{fnCamel}() throws IOException {
        ServerSocket door = new ServerSocket();
        door.setReuseAddress(true);
        door.bind(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), @{port}), @{waiting});
        return door;
    }

    /** Fits a tide of each period to the levels, and takes the best one. */
    private static double forecast(double[] level) {
        double best = 0, next = 0;
        for (int period = 60; period < 380; period++) {
            double sine = 0, cosine = 0;
            for (int hour = 0; hour < level.length; hour++) {
                double angle = 2 * Math.PI * hour * 10 / period;
                sine += level[hour] * Math.sin(angle);
                cosine += level[hour] * Math.cos(angle);
            }
            double power = sine * sine + cosine * cosine;
            if (power > best) {
                best = power;
                next = Math.atan2(sine, cosine);
            }
        }
        return next;
    }

    private void report(Socket gauge) throws IOException {
        gauge.setTcpNoDelay(true);
        gauge.setSoTimeout(5000);
        String line = new BufferedReader(new InputStreamReader(gauge.getInputStream(), StandardCharsets.US_ASCII)).readLine();
        if (line == null) {
            return;
        }
        String[] words = line.split(" ");
        double[] level = new double[words.length - 1];
        for (int i = 0; i < level.length; i++) {
            level[i] = Integer.parseInt(words[i + 1]);
        }
        levels.put(words[0], level);
        gauge.getOutputStream().write(("pumps " + (int) (forecast(level) * 100) + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} station = new @{Class}();
        try (ServerSocket door = @{fnCamel}()) {
            while (true) {
                try (Socket gauge = door.accept()) {
                    station.report(gauge);
                } catch (IOException e) {
                    System.err.println(e.getMessage());
                }
            }
        }
    }
}
