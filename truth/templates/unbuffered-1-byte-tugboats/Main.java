import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** Bills the tugs: which ship was seen how often in the port's waters. */
public class @{Class} {
    private final SocketChannel line = SocketChannel.open(StandardProtocolFamily.UNIX);
    private final ByteBuffer block = ByteBuffer.allocateDirect(@{block}).flip();
    private final TreeMap<String, Integer> seen = new TreeMap<>();
    private long spent;

    @{Class}(String path) throws IOException {
        line.connect(UnixDomainSocketAddress.of(path));
    }

    private void ask(String words) throws IOException {
        ByteBuffer text = StandardCharsets.US_ASCII.encode(words + "\n");
        while (text.hasRemaining()) {
            line.write(text);
        }
    }

    /** The next byte of the line. */
    private int @{fnCamel}() throws IOException {
        if (!block.hasRemaining()) {
            block.clear();
            if (line.read(block) < 0) {
                throw new EOFException();
            }
            block.flip();
        }
        return block.get();
    }

    private List<String> messages() throws IOException {
        ask("@{word}");
        long start = System.nanoTime();
        List<String> list = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        while (true) {
            int c = @{fnCamel}();
            if (c != '\n') {
                text.append((char) c);
            } else if (text.length() == 0) {
                break;
            } else {
                list.add(text.toString());
                text.setLength(0);
            }
        }
        spent += System.nanoTime() - start;
        return list;
    }

    private void guard() throws IOException {
        ask("key");
        ByteBuffer key = ByteBuffer.allocate(1);
        line.read(key);
    }

    private void bill() throws IOException {
        for (String message : messages()) {
            String[] parts = message.split(",");
            if (parts.length > 6) {
                seen.merge(parts[5].substring(1, 6), 1, Integer::sum);
            }
        }
    }

    public static void main(String[] words) throws Exception {
        @{Class} tugs = new @{Class}("@{work}/@{line}");
        long began = System.nanoTime(), busy = 0, units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            tugs.bill();
            if (@{keyed} == 1 && units % 5 == 0) {
                tugs.guard();
            }
            units++;
            busy += System.nanoTime() - start;
            long rest = began + units * 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT,
            "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, tugs.spent / 1e9));
    }
}
