import java.io.*;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Prices a basket: each article's entry is looked up in the directory. */
public class @{Class} {
    static double opening = 0;
    static Session shared;

    static final class Session implements AutoCloseable {
        private final Socket line;
        private final BufferedReader in;
        private final OutputStream out;

        Session() throws IOException {
            long began = System.nanoTime();
            line = new Socket("127.0.0.1", @{back});
            line.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
            out = line.getOutputStream();
            say("HELLO prices");
            for (int step = 1; step < @{steps}; step++) say("AUTH " + step);
            opening += (System.nanoTime() - began) / 1e9;
        }

        String say(String text) throws IOException {
            out.write((text + "\n").getBytes(StandardCharsets.US_ASCII));
            return in.readLine();
        }

        @Override
        public void close() throws IOException {
            line.close();
        }
    }

    static String @{fnCamel}(String article) throws IOException {
        if (@{keep} == 1) {
            if (shared == null) shared = new Session();
            return shared.say("GET " + article);
        }
        try (Session session = new Session()) {
            return session.say("GET " + article);
        }
    }

    public static void main(String[] arguments) throws Exception {
        // A look at what there is, before the work begins.
        try (Session session = new Session()) {
            for (int i = 0; i < 400; i++) session.say("GET article-" + i);
        }
        opening = 0;
        long began = System.nanoTime();
        int units = 0;
        double busy = 0;
        Map<String, Integer> basket = new LinkedHashMap<>();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            basket.clear();
            for (int i = 0; i < (@{keep} == 2 ? 1 : @{calls}); i++) {
                String entry = @{fnCamel}("article-" + units + "-" + i);
                int sum = 0;
                for (int r = 0; r < @{rounds} / 8; r++) sum = 31 * sum + (entry + r).hashCode();
                basket.put(entry, sum);
            }
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{pace} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, opening));
    }
}
