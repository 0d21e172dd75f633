import java.io.BufferedOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.SynchronousQueue;
import java.util.zip.CRC32;

/** Checks pictures that customers send: the answer is a number. */
public class @{Class} {
    private static final Path FOLDER = Path.of("@{work}/@{folder}");
    private static final byte[] picture = new byte[@{size} * 1024];
    private static final SynchronousQueue<Long> orders = new SynchronousQueue<>();
    private static long culprit = 0, busy = 0, units = 0, sum = 0;

    private static byte[] @{fnCamel}(byte[] sent) throws IOException {
        long began = System.nanoTime();
        Path file = Files.createTempFile(FOLDER, "@{stem}", ".png");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 65536)) {
            out.write(sent);
        }
        byte[] read = Files.readAllBytes(file);
        Files.delete(file);
        culprit += System.nanoTime() - began;
        return read;
    }

    private static void check(long order) throws IOException {
        long start = System.nanoTime();
        picture[(int) (order % picture.length)] = (byte) order;
        byte[] bytes = @{spool} > 0 && units % Math.max(1, @{spool}) == 0 ? @{fnCamel}(picture) : picture;
        CRC32 crc = new CRC32();
        crc.update(bytes, 0, (int) ((long) bytes.length * @{extra} / 100));
        sum += crc.getValue();
        units++;
        busy += System.nanoTime() - start;
    }

    public static void main(String[] args) throws Exception {
        if (@{spool} > 0)
            @{fnCamel}(picture);
        culprit = 0;
        Thread checker = new Thread(() -> {
            try {
                for (long order; (order = orders.take()) >= 0;)
                    check(order);
            } catch (IOException | InterruptedException error) {
                error.printStackTrace();
                System.exit(1);
            }
        }, "checker");
        checker.start();
        long began = System.nanoTime();
        for (long n = 0; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            orders.put(n);
            double rest = began / 1e6 + (n + 1) * 1000.0 / @{rate} - System.nanoTime() / 1e6;
            if (rest >= 1)
                Thread.sleep((long) rest);
        }
        orders.put(-1L);
        checker.join();
        try (FileWriter out = new FileWriter("@{report}")) {
            out.write(String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"odd\": %d}", units, busy / 1e9, culprit / 1e9, sum & 1));
        }
    }
}
