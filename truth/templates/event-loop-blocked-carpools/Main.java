import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** A car pool's server. "seat N" tells rider N who drives them today; the pairs are improved as riders come and go. */
public class @{Class} {
    static final int RIDERS = @{riders};

    record Place(double x, double y) {
        static Place of(int n) {
            return new Place(n * 7919L % 1000, n * 104729L % 1000);
        }

        double to(Place other) {
            return Math.hypot(x - other.x, y - other.y);
        }
    }

    private final Place[] homes = new Place[RIDERS], drivers = new Place[RIDERS];
    private int[] pairs = new int[RIDERS];
    private long asked;

    @{Class}() {
        for (int n = 0; n < RIDERS; n++) {
            homes[n] = Place.of(n);
            drivers[n] = Place.of(n + 5000);
            pairs[n] = n;
        }
    }

    static double detour(Place home, Place driver) {
        return home.to(driver) + driver.to(new Place(500, 500));
    }

    /** Swaps the drivers of two riders where that is shorter for both together. */
    static int[] @{fnCamel}(Place[] homes, Place[] drivers, int[] pairs) {
        int[] better = pairs.clone();
        long end = System.nanoTime() + (long) (@{spend} * 1e6);
        for (int a = 0; System.nanoTime() < end; a = (a + 1) % RIDERS)
            for (int b = 0; b < RIDERS; b++) {
                double now = detour(homes[a], drivers[better[a]]) + detour(homes[b], drivers[better[b]]);
                double then = detour(homes[a], drivers[better[b]]) + detour(homes[b], drivers[better[a]]);
                if (then < now - 1e-9) {
                    int driver = better[a];
                    better[a] = better[b];
                    better[b] = driver;
                }
            }
        return better;
    }

    String answer(String line) {
        String[] words = line.trim().split(" ");
        if (!words[0].equals("seat")) return "what?\n";
        int number = Integer.parseInt(words[1]), minutes = 400 + number * 13 % 90;
        asked++;
        homes[number % RIDERS] = Place.of(number);
        return "driver " + pairs[number % RIDERS] + " at " + minutes / 60 + ":" + minutes % 60 + "\n";
    }

    void read(SelectionKey key, ByteBuffer buffer) throws IOException {
        var rider = (SocketChannel) key.channel();
        var text = (StringBuilder) key.attachment();
        buffer.clear();
        if (rider.read(buffer) < 0) {
            rider.close();
            return;
        }
        text.append(StandardCharsets.US_ASCII.decode(buffer.flip()));
        for (int end; (end = text.indexOf("\n")) >= 0; text.delete(0, end + 1))
            rider.write(ByteBuffer.wrap(answer(text.substring(0, end)).getBytes(StandardCharsets.US_ASCII)));
    }

    void loop(ServerSocketChannel door, Selector selector, ExecutorService aside) throws Exception {
        var buffer = ByteBuffer.allocate(4096);
        long due = System.currentTimeMillis() + @{every};
        Future<int[]> coming = null;
        while (true) {
            selector.select(Math.max(1, due - System.currentTimeMillis()));
            for (var keys = selector.selectedKeys().iterator(); keys.hasNext(); keys.remove()) {
                SelectionKey key = keys.next();
                if (key.isAcceptable()) {
                    SocketChannel rider = door.accept();
                    rider.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    rider.configureBlocking(false).register(selector, SelectionKey.OP_READ, new StringBuilder());
                } else read(key, buffer);
            }
            if (coming != null && coming.isDone()) {
                pairs = coming.get();
                coming = null;
            }
            if (System.currentTimeMillis() < due) continue;
            due += @{every};
            Place[] now = homes.clone();
            int[] before = pairs;
            if (@{aside} == 0) pairs = @{fnCamel}(now, drivers, before);
            else if (coming == null) coming = aside.submit(() -> @{fnCamel}(now, drivers, before));
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService aside = Executors.newSingleThreadExecutor();
        try (var door = ServerSocketChannel.open(); var selector = Selector.open()) {
            door.bind(new InetSocketAddress("127.0.0.1", @{port})).configureBlocking(false);
            door.register(selector, SelectionKey.OP_ACCEPT);
            new @{Class}().loop(door, selector, aside);
        }
    }
}
