import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Ranks of players: one thread for all connections. */
public class @{Class} {
    private final Selector selector = Selector.open();
    private final ExecutorService helper = Executors.newSingleThreadExecutor();
    private volatile double[] table = new double[1000];
    private volatile long at;
    private CompletableFuture<Void> next = CompletableFuture.completedFuture(null);

    @{Class}() throws IOException {
    }

    private void @{fnCamel}() {
        Random random = new Random();
        double[] fresh = new double[1000];
        long start = System.nanoTime();
        while (System.nanoTime() - start < @{work} * 1e6) {
            for (int i = 0; i < fresh.length; i++)
                fresh[i] = Math.sin(random.nextDouble() * i);
            Arrays.sort(fresh);
        }
        table = fresh;
        at = System.nanoTime();
    }

    private void answer(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteBuffer buffer = (ByteBuffer) key.attachment();
        buffer.clear();
        int n = channel.read(buffer);
        if (n < 0) {
            channel.close();
            return;
        }
        if (System.nanoTime() - at > @{age} * 1e6) {
            if (@{own} == 1)
                @{fnCamel}();
            else if (next.isDone())
                next = CompletableFuture.runAsync(this::@{fnCamel}, helper);
        }
        channel.write(ByteBuffer.wrap(String.format("rank %.4f%n", table[n * 13 % 1000]).getBytes()));
    }

    private void serve() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", @{port}));
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isAcceptable()) {
                    SocketChannel visitor = server.accept();
                    visitor.configureBlocking(false);
                    visitor.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    visitor.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(512));
                } else {
                    answer(key);
                }
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        new @{Class}().serve();
    }
}
