import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Prints labels in the order of the routes; the addresses are in the delivery, in the order of their arrival. */
public class @{Class} {
    static final int SIZE = @{row};

    final List<Integer> route = new ArrayList<>();
    long printed;

    @{Class}() {
        for (int i = 0; i < @{rows}; i++) {
            route.add(i);
        }
        Collections.shuffle(route, new Random(@{stride}));
    }

    void @{fnCamel}(RandomAccessFile file) throws IOException {
        byte[] label = new byte[SIZE];
        for (int number : route) {
            file.seek((long) number * SIZE);
            file.readFully(label);
            printed += label[0] & 1;
        }
    }

    void inBlocks(RandomAccessFile file) throws IOException {
        byte[] block = new byte[Math.max(1, 262144 / SIZE) * SIZE];
        byte[] first = new byte[route.size()];
        int n, number = 0;
        while ((n = file.read(block)) > 0) {
            for (int at = 0; at < n && number < first.length; at += SIZE) {
                first[number++] = block[at];
            }
        }
        for (int each : route) {
            printed += first[each] & 1;
        }
    }

    void some(RandomAccessFile file) throws IOException {
        ByteBuffer label = ByteBuffer.allocateDirect(SIZE);
        for (int i = 0; i < @{lookups}; i++) {
            label.clear();
            file.getChannel().read(label, (long) route.get(i) * SIZE);
            printed += label.get(0) & 1;
        }
    }

    public static void main(String[] args) throws Exception {
        @{Class} app = new @{Class}();
        long began = System.nanoTime(), units = 0;
        double busy = 0, culprit = 0;
        try (Socket courier = new Socket("127.0.0.1", @{port})) {
            courier.getOutputStream().write(String.format(Locale.ROOT, "%.3f %d%n", @{load} * 600000 / @{rows}, @{rows}).getBytes());
            BufferedReader lines = new BufferedReader(new InputStreamReader(courier.getInputStream()));
            String path;
            while (System.nanoTime() - began < @{seconds} * 1e9 && (path = lines.readLine()) != null) {
                long start = System.nanoTime();
                try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
                    switch ("@{mode}") {
                        case "each": app.@{fnCamel}(file); break;
                        case "sorted": app.inBlocks(file); break;
                        default: app.some(file);
                    }
                }
                culprit += (System.nanoTime() - start) / 1e9;
                Files.delete(Path.of(path));
                units++;
                busy += (System.nanoTime() - start) / 1e9;
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }
}
