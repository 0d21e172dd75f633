import java.io.*;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.Locale;
import java.util.concurrent.*;

/** Bookings go to the broker through one sender thread; a booking is done when it is taken. */
public class @{Class} {
    private final OutputStream out;
    private final BufferedReader in;
    private double spent = 0;

    @{Class}(Socket line) throws IOException {
        out = @{split} == 1 ? line.getOutputStream() : new BufferedOutputStream(line.getOutputStream(), 8192);
        in = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
    }

    String @{fnCamel}(String booking) throws IOException {
        long began = System.nanoTime();
        byte[] body = booking.getBytes(StandardCharsets.UTF_8);
        out.write(("PUT bookings " + body.length + "\n").getBytes(StandardCharsets.US_ASCII));
        out.write(body);
        out.flush();
        String answer = in.readLine();
        spent += (System.nanoTime() - began) / 1e9;
        return answer;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} sender = new @{Class}(new Socket("127.0.0.1", @{back}));
        ExecutorService thread = Executors.newSingleThreadExecutor(r -> new Thread(r, "sender"));
        long began = System.nanoTime();
        int units = 0;
        double busy = 0;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            StringBuilder booking = new StringBuilder("{\"room\":" + units % 40 + ",\"note\":\"");
            for (int i = 0; i < @{bytes}; i++) booking.append((char) ('a' + (i * 7 + units) % 26));
            String text = booking.append("\"}").toString();
            thread.submit(() -> sender.@{fnCamel}(text)).get();
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{pace} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, sender.spent));
        System.exit(0);
    }
}
