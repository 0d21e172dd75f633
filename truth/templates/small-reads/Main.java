import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

public class @{Class} {
    static final int PAYLOAD = @{row} - 8;
    final Map<Integer, Long> sums = new HashMap<>();
    final SplittableRandom random = new SplittableRandom(7);

    InputStream open(String path) throws IOException {
        InputStream file = new FileInputStream(path);
        return @{buffer} > 0 ? new BufferedInputStream(file, Math.max(1, @{buffer})) : file;
    }

    /** A delivery is a list of entries: an id, then the payload. */
    void @{fnCamel}(String path) throws IOException {
        byte[] payload = new byte[PAYLOAD];
        try (DataInputStream in = new DataInputStream(open(path))) {
            while (true) {
                long id = in.readLong();
                in.readFully(payload);
                if ((id & 0xff) == 0) {
                    sums.merge((int) (id >>> 48), (long) payload[0], Long::sum);
                }
            }
        } catch (EOFException end) {
            // All of it is read.
        }
    }

    void lookUp(String path) throws IOException {
        ByteBuffer entry = ByteBuffer.allocate(@{row});
        try (FileChannel channel = FileChannel.open(Path.of(path), StandardOpenOption.READ)) {
            for (int i = 0; i < @{lookups}; i++) {
                entry.clear();
                channel.read(entry, (long) random.nextInt(@{rows} / 2) * @{row});
                sums.merge((int) entry.get(0), 1L, Long::sum);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        @{Class} app = new @{Class}();
        long began = System.nanoTime(), units = 0;
        double busy = 0, reading = 0;
        int rows = @{rows} / 2;
        try (Socket courier = new Socket("127.0.0.1", @{port})) {
            courier.getOutputStream().write(String.format("%.3f %d%n", @{load} * 450000 / rows, rows).getBytes());
            BufferedReader lines = new BufferedReader(new InputStreamReader(courier.getInputStream()));
            String path;
            while (System.nanoTime() - began < @{seconds} * 1e9 && (path = lines.readLine()) != null) {
                long start = System.nanoTime();
                if (@{lookups} > 0) {
                    app.lookUp(path);
                } else {
                    app.@{fnCamel}(path);
                }
                reading += (System.nanoTime() - start) / 1e9;
                Files.delete(Path.of(path));
                units++;
                busy += (System.nanoTime() - start) / 1e9;
            }
        }
        Files.writeString(Path.of("@{report}"), String.format("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, reading));
    }
}
