import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;

/** Hears from the collars of a herd where each animal is, and tells the ranch which have left the pasture. */
public class @{Class} {
    private static final class Collar {
        final ByteBuffer text = ByteBuffer.allocate(1024);
    }

    private final Selector selector = Selector.open();
    private final ServerSocketChannel door = ServerSocketChannel.open();
    private final SocketChannel ranch;
    private final SelectionKey toRanch;
    private final Set<SelectionKey> collars = new LinkedHashSet<>();
    private final ByteBuffer out = ByteBuffer.allocate(1 << 20);
    private final double[][] corners = new double[@{corners}][];
    private boolean paused;
    private boolean changed;
    private long units;
    private long spent;

    @{Class}() throws IOException {
        for (int i = 0; i < corners.length; i++) {
            double turn = 2 * Math.PI * i / corners.length;
            corners[i] = new double[] {47.1 + 0.15 * Math.sin(turn), 8.5 + 0.3 * Math.cos(turn)};
        }
        ranch = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), @{ranch}));
        ranch.configureBlocking(false);
        toRanch = ranch.register(selector, 0);
        door.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), @{door}), 512);
        door.configureBlocking(false);
        door.register(selector, SelectionKey.OP_ACCEPT);
    }

    private void @{fnCamel}(boolean hear) {
        for (SelectionKey key : collars) {
            key.interestOps(hear ? SelectionKey.OP_READ : 0);
        }
        paused = !hear;
        changed = true;
    }

    private void send() throws IOException {
        out.flip();
        ranch.write(out);
        out.compact();
        toRanch.interestOps(out.position() > 0 ? SelectionKey.OP_WRITE : 0);
        if (paused && out.position() == 0) {
            @{fnCamel}(true);
        }
    }

    /** What is to be sent goes at once, unless the way to the ranch is full: then whoever speaks has to wait. */
    private void flow() throws IOException {
        if (out.position() == 0) {
            return;
        }
        if (out.position() > @{high}) {
            if (!paused) {
                @{fnCamel}(false);
            }
            toRanch.interestOps(SelectionKey.OP_WRITE);
        } else {
            send();
        }
    }

    private void take() throws IOException {
        for (SocketChannel line; (line = door.accept()) != null;) {
            line.configureBlocking(false);
            collars.add(line.register(selector, paused ? 0 : SelectionKey.OP_READ, new Collar()));
        }
    }

    private boolean inside(double lat, double lon) {
        boolean in = false;
        double[] before = corners[corners.length - 1];
        for (double[] corner : corners) {
            if (corner[0] > lat != before[0] > lat && lon < (before[1] - corner[1]) * (lat - corner[0]) / (before[0] - corner[0]) + corner[1]) {
                in = !in;
            }
            before = corner;
        }
        return in;
    }

    private void hear(SelectionKey key) throws IOException {
        ByteBuffer text = ((Collar) key.attachment()).text;
        if (((SocketChannel) key.channel()).read(text) < 0) {
            collars.remove(key);
            key.channel().close();
            return;
        }
        String all = new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII);
        int from = 0;
        for (int end; (end = all.indexOf('\n', from)) >= 0; from = end + 1) {
            String[] words = all.substring(from, end).split(";");
            String where = inside(Double.parseDouble(words[1]), Double.parseDouble(words[2])) ? "in" : "out";
            out.put((words[0] + ";" + words[3] + ";" + where + "\n").getBytes(StandardCharsets.US_ASCII));
            units++;
        }
        text.clear();
        text.put(all.substring(from).getBytes(StandardCharsets.US_ASCII));
    }

    private void work() throws IOException {
        long busy = 0;
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        while (System.nanoTime() < end) {
            // What has come while the last ones were heard is there without a wait.
            long start = System.nanoTime();
            int ready = selector.selectNow();
            long looked = System.nanoTime();
            if (changed) {
                spent += looked - start;
                changed = false;
            }
            busy += looked - start;
            if (ready == 0) {
                selector.select(200);
            }
            start = System.nanoTime();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    take();
                } else if (key == toRanch) {
                    send();
                } else {
                    hear(key);
                }
            }
            selector.selectedKeys().clear();
            flow();
            busy += System.nanoTime() - start;
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, spent / 1e9));
    }

    public static void main(String[] arguments) throws IOException {
        new @{Class}().work();
    }
}
