import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;

/** Warns of frost. */
public class @{Class} {
    private final Selector selector = Selector.open();
    private final ByteBuffer buffer = ByteBuffer.allocate(2048);
    private long units, frost;
    private double busy, culprit;

    @{Class}() throws IOException {
    }

    private void subscribe(int stations) throws IOException {
        for (int i = 0; i < stations; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", @{port}));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, "station " + i);
        }
    }

    private void judge(String text) {
        long start = System.nanoTime();
        do {
            for (String line : text.split("\n"))
                if (line.startsWith("value -"))
                    frost++;
        } while (System.nanoTime() - start < @{effort} * 1e6);
        units++;
        busy += (System.nanoTime() - start) / 1e9;
    }

    private boolean @{fnCamel}(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        buffer.clear();
        int n = channel.read(buffer);
        if (n > 0) {
            judge(new String(buffer.array(), 0, n, StandardCharsets.UTF_8));
            return true;
        }
        if (n < 0 && @{tidy} == 1) {
            key.cancel();
            channel.close();
        }
        return false;
    }

    private void run(double seconds) throws IOException {
        long began = System.nanoTime();
        while (System.nanoTime() - began < seconds * 1e9) {
            long asked = System.nanoTime();
            selector.select(1000);
            boolean done = false;
            Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                done |= @{fnCamel}(keys.next());
                keys.remove();
            }
            if (!done && @{tidy} == 0) {
                double took = (System.nanoTime() - asked) / 1e9;
                culprit += took;
                busy += took;
            }
        }
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} warner = new @{Class}();
        warner.subscribe(@{stations});
        warner.run(@{seconds});
        System.exit(0);
    }
}
