import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Labels what comes out of the smokehouses: what a batch has gone through, and how long it keeps. */
public class @{Class} {
    static class Session implements Closeable {
        private final Socket socket;
        private final BufferedReader in;
        int answered;

        Session() throws IOException {
            socket = new Socket("127.0.0.1", @{port});
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            String salt = in.readLine().split(" ")[2];
            tell("user @{user} " + Integer.toHexString(salt.hashCode()));
        }

        String tell(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            String answer = in.readLine();
            if (answer == null || !answer.startsWith("2")) {
                throw new IOException("recipes say " + answer);
            }
            answered++;
            return answer;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    static Session session;
    static double spent;

    static double now() {
        return System.nanoTime() / 1e9;
    }

    static Session @{fnCamel}() throws IOException {
        double start = now();
        if (session == null) {
            session = new Session();
        }
        spent += now() - start;
        return session;
    }

    static void release() throws IOException {
        // The greeting is one of the answers.
        if (session.answered > @{uses}) {
            double start = now();
            session.close();
            session = null;
            spent += now() - start;
        }
    }

    static String label(long batch) throws IOException {
        String answer = @{fnCamel}().tell("batch @{fish} " + batch);
        release();
        return print(batch, answer.split(" "));
    }

    static String print(long batch, String[] step) {
        double heat = Double.parseDouble(step[3]), salt = Double.parseDouble(step[4]), keeps = 0;
        for (int hour = 0; hour < @{grain} * 5; hour++) {
            keeps += Math.log1p(heat / (hour + 1)) * (1 + salt / 10);
        }
        return String.format(Locale.ROOT, "@{fish} %d: %s degrees, keeps %.1f hours", batch, step[3], keeps);
    }

    public static void main(String[] arguments) throws Exception {
        // The labels of yesterday, for those who come back.
        long units = 0, letters = 0;
        for (long batch = -3000; batch < 0; batch++) {
            letters += print(batch, new String[] {"200", "batch", "@{fish}", "60", "2", "9"}).length();
        }
        for (long batch = -60; batch < 0; batch++) {
            letters += label(batch).length();
        }
        spent = 0;
        double busy = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            // A tray is of three.
            for (int part = 0; part < 3; part++) {
                letters += label(units * 3 + part).length();
            }
            units++;
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0) {
                Thread.sleep((long) (rest * 1000));
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent));
        System.out.println(units + " labels " + letters);
    }
}
