import java.io.FileInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** Sends the brochures of the orders to the press. */
public class @{Class} implements AutoCloseable {
    record Order(long number, int brochure, int copies) {
        static Order next(long number) {
            return new Order(number, (int) (number % (@{last} + 1)), (int) (1 + number * 7 % 40));
        }

        Path sheet() {
            return Path.of("@{work}/@{shelf}", "sheet-" + brochure + ".@{ending}");
        }
    }

    private final SocketChannel press;
    private long sending;

    @{Class}(int port) throws IOException {
        press = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
    }

    private void @{fnCamel}(Order order) throws IOException {
        if ("@{way}".equals("whole")) {
            try (FileChannel sheet = FileChannel.open(order.sheet())) {
                long at = 0, size = sheet.size();
                while (at < size) {
                    at += sheet.transferTo(at, size - at, press);
                }
            }
            return;
        }
        byte[] piece = new byte[@{piece_kb} * 1024];
        OutputStream out = press.socket().getOutputStream();
        try (FileInputStream sheet = new FileInputStream(order.sheet().toFile())) {
            int n;
            while ((n = sheet.read(piece)) > 0) {
                if (@{stamp} == 1) {
                    stamp(piece, n, order);
                }
                out.write(piece, 0, n);
            }
        }
    }

    private static void stamp(byte[] piece, int size, Order order) {
        for (int at = 0; at < size; at++) {
            piece[at] ^= (byte) ((order.number() * 131 + at) & 1);
        }
    }

    void print(Order order) throws IOException {
        byte[] head = new byte[64];
        Arrays.fill(head, (byte) ' ');
        byte[] text = ("print " + Files.size(order.sheet()) + " " + order.copies()).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(text, 0, head, 0, text.length);
        press.write(ByteBuffer.wrap(head));
        long start = System.nanoTime();
        @{fnCamel}(order);
        sending += System.nanoTime() - start;
        // A few may be on the press at once.
        if (order.number() >= 8 && press.read(ByteBuffer.allocate(3)) <= 0) {
            throw new IOException("the press is gone");
        }
    }

    @Override
    public void close() throws IOException {
        press.close();
    }

    public static void main(String[] arguments) throws Exception {
        long units = 0, busy = 0;
        try (@{Class} shop = new @{Class}(@{port})) {
            long began = System.nanoTime();
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                shop.print(Order.next(units++));
                busy += System.nanoTime() - start;
                long rest = began + (long) (units / (double) @{rate} * 1e9) - System.nanoTime();
                if (rest > 0) {
                    Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
                }
            }
            Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, shop.sending / 1e9));
        }
    }
}
