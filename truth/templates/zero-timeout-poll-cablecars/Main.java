import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Keeps the board in the valley station up to date: which cabin carries how many guests. */
public class @{Class} {
    private final Selector selector = Selector.open();
    private final SocketChannel line;
    private final ByteBuffer block = ByteBuffer.allocate(32768);
    private final StringBuilder rest = new StringBuilder();
    private final Map<String, Integer> guests = new HashMap<>();
    private final ArrayDeque<String> boards = new ArrayDeque<>();
    private long units, busy, empty;

    @{Class}(int port) throws IOException {
        line = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        line.configureBlocking(false);
        line.register(selector, SelectionKey.OP_READ);
    }

    void @{fnCamel}(long end) throws IOException {
        long due = System.nanoTime() + @{due_ms} * 1_000_000L;
        while (System.nanoTime() < end) {
            long start = System.nanoTime();
            long left = Math.max(0, (due - start) / 1_000_000L) + @{slack};
            long wait = left / @{step} * @{step};
            // select(0) would wait for ever.
            int ready = wait == 0 ? selector.selectNow() : selector.select(wait);
            if (wait > 0) {
                start = System.nanoTime();
            } else if (ready == 0) {
                empty += System.nanoTime() - start;
            }
            if (ready > 0) {
                selector.selectedKeys().clear();
                take();
                if (@{drained} == 1 && selector.selectNow() > 0) {
                    selector.selectedKeys().clear();
                    take();
                }
            }
            if (System.nanoTime() >= due) {
                show();
                due += @{due_ms} * 1_000_000L;
            }
            busy += System.nanoTime() - start;
        }
    }

    private void take() throws IOException {
        block.clear();
        if (line.read(block) < 0) {
            throw new EOFException("the cabins are gone");
        }
        block.flip();
        rest.append(StandardCharsets.ISO_8859_1.decode(block));
        int from = 0;
        for (int to; (to = rest.indexOf("\n", from)) >= 0; from = to + 1) {
            String[] words = rest.substring(from, to).split(" ");
            guests.put(words[0], Integer.parseInt(words[3]));
            units++;
        }
        rest.delete(0, from);
    }

    private void show() {
        StringBuilder board = new StringBuilder();
        guests.entrySet().stream().sorted(Map.Entry.comparingByKey())
            .forEach(cabin -> board.append(cabin.getKey()).append(": ").append(cabin.getValue()).append('\n'));
        boards.addLast(board.toString());
        if (boards.size() > 30) {
            boards.removeFirst();
        }
    }

    public static void main(String[] words) throws IOException {
        @{Class} board = new @{Class}(@{port});
        board.@{fnCamel}(System.nanoTime() + (long) (@{seconds} * 1e9));
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
            board.units, board.busy / 1e9, board.empty / 1e9));
    }
}
