import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Watches the tanks of a public aquarium: asks their probes, smooths what they say, and decides what is dosed. */
public class @{Class} {
    record Values(double warm, double salt, double acid) {}

    static double now() {
        return System.nanoTime() / 1e9;
    }

    static final class Tank {
        final int number;
        final Deque<Values> history = new ArrayDeque<>();
        volatile double buffer;
        double restUntil;

        Tank(int number) {
            this.number = number;
        }

        private double median(ToDoubleFunction<Values> which) {
            double[] sorted = history.stream().mapToDouble(which).sorted().toArray();
            return sorted[sorted.length / 2];
        }

        void dose(Values values) {
            history.add(values);
            if (history.size() > 240)
                history.remove();
            double lack = 8.15 - median(Values::acid), thin = 34.5 - median(Values::salt);
            if (lack > 0)
                buffer += 12 * lack * (1 + 0.02 * (median(Values::warm) - 24)) * Math.exp(-thin * thin);
        }
    }

    static final class Probes {
        private Socket line;
        private BufferedReader answers;
        private OutputStream questions;

        void dial() throws IOException {
            if (line != null)
                line.close();
            line = new Socket();
            line.setTcpNoDelay(true);
            line.setSoTimeout(@{limit_ms});
            line.connect(new InetSocketAddress("127.0.0.1", @{probes}), 2000);
            answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
            questions = line.getOutputStream();
        }

        /** What a probe says; null if it says nothing. */
        Values @{fnCamel}(int tank) throws IOException {
            questions.write(("READ " + tank + "\n").getBytes(StandardCharsets.US_ASCII));
            try {
                String answer = answers.readLine();
                if (answer == null)
                    return null;
                String[] words = answer.split(" ");
                return new Values(Double.parseDouble(words[3]), Double.parseDouble(words[5]), Double.parseDouble(words[7]));
            } catch (SocketTimeoutException e) {
                return null;
            }
        }
    }

    static final class Watch implements Runnable {
        final List<Tank> mine = new ArrayList<>();
        final Probes probes = new Probes();
        final double began;
        volatile double since;
        volatile long units;
        volatile double busy, waited;

        Watch(double began) {
            this.began = began;
        }

        @Override
        public void run() {
            try {
                probes.dial();
                for (int turn = 0; ; turn++) {
                    visit(mine.get(turn % mine.size()));
                    double rest = began + (turn + 1) / @{rate} - now();
                    if (rest > 0)
                        Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1e6));
                }
            } catch (IOException | InterruptedException e) {
                System.err.println("watch: " + e);
            }
        }

        private void visit(Tank tank) throws IOException {
            double start = now();
            if (start < tank.restUntil)
                return;
            since = start;
            Values values = probes.@{fnCamel}(tank.number);
            since = 0;
            waited += now() - start;
            if (values != null) {
                tank.dose(values);
            } else {
                System.err.println("tank " + tank.number + ": no answer");
                tank.restUntil = now() + 30;
                probes.dial();
            }
            units++;
            busy += now() - start;
        }
    }

    /** Keepers come here and ask what a tank got. */
    static void door(List<Tank> tanks) {
        try (ServerSocket hall = new ServerSocket(@{door}, 8, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                try (Socket keeper = hall.accept(); PrintWriter out = new PrintWriter(keeper.getOutputStream())) {
                    for (Tank tank : tanks)
                        out.printf("%d: %.1f ml%n", tank.number, tank.buffer);
                }
            }
        } catch (IOException e) {
            System.err.println("door: " + e);
        }
    }

    private static void start(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] arguments) throws Exception {
        List<Tank> tanks = new ArrayList<>();
        List<Watch> watches = new ArrayList<>();
        double began = now();
        for (int i = 0; i < @{workers}; i++)
            watches.add(new Watch(began));
        for (int i = 0; i < @{tanks}; i++) {
            tanks.add(new Tank(i));
            watches.get(i % @{workers}).mine.add(tanks.get(i));
        }
        start("door", () -> door(tanks));
        for (Watch watch : watches)
            start("watch", watch);
        Thread.sleep((long) (@{seconds} * 1000));
        long units = 0;
        double busy = 0, waited = 0;
        for (Watch watch : watches) {
            double since = watch.since, open = since > 0 ? now() - since : 0;
            units += watch.units;
            busy += watch.busy + open;
            waited += watch.waited + open;
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, waited));
        System.exit(0);
    }
}
