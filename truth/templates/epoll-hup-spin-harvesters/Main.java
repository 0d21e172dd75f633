import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class @{Class} {
    static final boolean TIDY = @{tidy} == 1;
    static long readings, spent;

    static class Machine {
        final String site;
        final ByteBuffer in = ByteBuffer.allocate(4096);
        final ArrayDeque<Integer> last = new ArrayDeque<>();
        long sum;

        Machine(String site) { this.site = site; }

        void reading(String line) {
            String[] words = line.split(" ");
            int moisture = Integer.parseInt(words[1]);
            last.add(moisture);
            sum += moisture;
            if (last.size() > @{window})
                sum -= last.remove();
            readings++;
        }
    }

    static void connect(Selector board, int port) throws IOException {
        SocketChannel line = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        line.write(ByteBuffer.wrap("board\n".getBytes()));
        line.configureBlocking(false);
        line.register(board, SelectionKey.OP_READ, new Machine("127.0.0.1:" + port));
    }

    static void lines(Machine m) {
        m.in.flip();
        int start = 0;
        for (int i = 0; i < m.in.limit(); i++) {
            if (m.in.get(i) == '\n') {
                m.reading(new String(m.in.array(), start, i - start, StandardCharsets.US_ASCII));
                start = i + 1;
            }
        }
        m.in.position(start);
        m.in.compact();
    }

    static void @{fnCamel}(SelectionKey key) throws IOException {
        Machine m = (Machine) key.attachment();
        SocketChannel line = (SocketChannel) key.channel();
        int got;
        try {
            got = line.read(m.in);
        } catch (IOException e) {
            System.err.println(m.site + ": " + e.getMessage());
            got = -1;
        }
        if (got > 0)
            lines(m);
        else if (got < 0 && TIDY)
            line.close();
    }

    public static void main(String[] arguments) throws Exception {
        Selector board = Selector.open();
        for (int i = 0; i < @{machines}; i++) {
            connect(board, @{barn});
            if (i == 0)
                connect(board, @{fields});
        }
        long began = System.nanoTime(), left;
        while ((left = (long) (@{seconds} * 1000) - (System.nanoTime() - began) / 1000000) > 0) {
            board.select(Math.min(left, 500));
            long start = System.nanoTime();
            for (Iterator<SelectionKey> keys = board.selectedKeys().iterator(); keys.hasNext(); ) {
                SelectionKey key = keys.next();
                keys.remove();
                @{fnCamel}(key);
            }
            spent += System.nanoTime() - start;
        }
        long mean = 0;
        for (SelectionKey key : board.keys())
            mean += ((Machine) key.attachment()).sum / @{window};
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"mean\": %d}", readings, spent / 1e9, mean));
    }
}
