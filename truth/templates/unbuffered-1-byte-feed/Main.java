import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Takes the stock of the shops from the head office's feed. */
public class @{Class} {
    final Map<String, Long> stock = new HashMap<>();
    final DataInputStream in;
    final MessageDigest digest;

    @{Class}(InputStream in) throws NoSuchAlgorithmException {
        digest = MessageDigest.getInstance("SHA-256");
        this.in = new DataInputStream(in);
    }

    @SuppressWarnings("deprecation")
    String @{fnCamel}() throws IOException {
        String line = in.readLine();
        if (line == null) throw new EOFException();
        return line;
    }

    void take(String line) {
        String[] words = line.split(" ", 3);
        byte[] seal = line.getBytes();
        for (int i = 0; i < @{keys}; i++) seal = digest.digest(seal);
        if (seal[0] == seal[1] && seal[1] == seal[2] && seal[2] == 0) return;
        stock.merge(words[2], Long.parseLong(words[1]), Long::sum);
    }

    public static void main(String[] args) throws Exception {
        long units = 0, busy = 0, reading = 0;
        try (Socket office = new Socket("127.0.0.1", @{port})) {
            double rate = @{pace} * 450000 / (@{lines} * @{width});
            office.getOutputStream().write(String.format(Locale.ROOT, "%.4f %d%n", rate, @{used}).getBytes());
            InputStream stream = office.getInputStream();
            @{Class} app = new @{Class}(@{buffer} > 0 ? new BufferedInputStream(stream, Math.max(1, @{buffer})) : stream);
            String[] lines = new String[@{used}];
            for (long began = System.nanoTime(); System.nanoTime() - began < @{seconds} * 1e9; units++) {
                app.@{fnCamel}();
                long start = System.nanoTime();
                for (int i = 0; i < lines.length; i++) lines[i] = app.@{fnCamel}();
                reading += System.nanoTime() - start;
                for (String line : lines) app.take(line);
                busy += System.nanoTime() - start;
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, reading / 1e9));
    }
}
