// Weighs the lorries of a quarry, axle by axle; each bridge has a thread and a line to its scale.
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Timer;
import java.util.TimerTask;

public class @{Class} {
    static class Scale {
        private final SocketChannel line = SocketChannel.open(new InetSocketAddress("127.0.0.1", @{scales}));
        private final Selector selector = Selector.open();
        private final ByteBuffer buffer = ByteBuffer.allocate(128);
        long waited;

        Scale() throws IOException {
            line.setOption(StandardSocketOptions.TCP_NODELAY, true);
            line.configureBlocking(false);
            line.register(selector, SelectionKey.OP_READ);
        }

        int weigh(long axle) throws IOException, InterruptedException {
            line.write(ByteBuffer.wrap(("S " + axle + "\r\n").getBytes(StandardCharsets.US_ASCII)));
            String answer = @{fnCamel}();
            if (!answer.startsWith("S S ")) throw new IOException("the scale says " + answer);
            return Integer.parseInt(answer.substring(4, answer.indexOf("kg")).trim());
        }

        /** What the scale says, to the end of the line. */
        private String @{fnCamel}() throws IOException, InterruptedException {
            buffer.clear();
            while (buffer.position() == 0 || buffer.get(buffer.position() - 1) != '\n') {
                int got = line.read(buffer);
                if (got < 0) throw new IOException("the scale is gone");
                if (got > 0) continue;
                long start = System.nanoTime();
                if ("@{wait}".equals("look")) {
                    Thread.sleep((long) @{pause});
                } else {
                    selector.select(5000);
                    selector.selectedKeys().clear();
                }
                waited += System.nanoTime() - start;
            }
            return new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII);
        }
    }

    static class Bridge implements Runnable {
        private static final int[] GOODS = {1190, 1450, 870, 2210};
        final Scale scale = new Scale();
        private final long begun;
        volatile long units, tons;
        long busy, cents;

        Bridge(long begun) throws IOException {
            this.begun = begun;
        }

        private void lorry(long number) throws IOException, InterruptedException {
            long load = -9800, price = 0;
            for (int axle = 0; axle < @{axles}; axle++) load += scale.weigh(number * 5 + axle);
            for (int zone = 0; zone < @{tariffs}; zone++) price = Math.max(price, load * GOODS[(int) (number + zone) % 4] / 100000 - zone * 3L);
            cents += price;
            tons += load / 1000;
            units++;
        }

        @Override
        public void run() {
            try {
                while ((System.nanoTime() - begun) / 1e9 < @{seconds}) {
                    long start = System.nanoTime();
                    lorry(units);
                    busy += System.nanoTime() - start;
                    double early = units / @{rate} - (System.nanoTime() - begun) / 1e9;
                    if (early > 0) Thread.sleep((long) (early * 1000));
                }
            } catch (IOException | InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    static volatile long shown;

    public static void main(String[] arguments) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        List<Bridge> bridges = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < @{bridges}; i++) {
            bridges.add(new Bridge(begun));
            threads.add(new Thread(bridges.get(i), "bridge-" + i));
        }
        Timer board = new Timer("board", true);
        board.schedule(new TimerTask() {
            @Override
            public void run() {
                shown = bridges.stream().mapToLong(bridge -> bridge.tons).sum();
            }
        }, @{board}, @{board});
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        long units = bridges.stream().mapToLong(bridge -> bridge.units).sum();
        double busy = bridges.stream().mapToLong(bridge -> bridge.busy).sum() / 1e9, waited = bridges.stream().mapToLong(bridge -> bridge.scale.waited).sum() / 1e9;
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, waited));
    }
}
