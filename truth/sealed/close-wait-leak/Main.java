import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.util.*;

public class @{Class} {
    static final Map<Long, SocketChannel> PARTNERS = new HashMap<>();
    static final Deque<Map.Entry<Long, Long>> LEAVING = new ArrayDeque<>();
    static long number;

    static void @{fnCamel}(SelectionKey key, ByteBuffer buffer) throws Exception {
        SocketChannel partner = (SocketChannel) key.channel();
        buffer.clear();
        int got = partner.read(buffer);
        if (got < 0) {
            key.cancel();
            if (@{closes} == 1) {
                LEAVING.add(Map.entry(System.nanoTime() + (long) (@{drain} * 1e9), (Long) key.attachment()));
            }
        } else if (got > 0) {
            partner.write(ByteBuffer.wrap(("rate " + got * 3 + "\n").getBytes()));
        }
    }

    public static void main(String[] words) throws Exception {
        Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), @{port}), 200);
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        while (true) {
            selector.select(100);
            Iterator<SelectionKey> keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isAcceptable()) {
                    SocketChannel partner = listener.accept();
                    PARTNERS.put(++number, partner);
                    partner.configureBlocking(false);
                    partner.register(selector, SelectionKey.OP_READ, number);
                } else {
                    @{fnCamel}(key, buffer);
                }
            }
            while (!LEAVING.isEmpty() && LEAVING.peek().getKey() <= System.nanoTime()) {
                PARTNERS.remove(LEAVING.poll().getValue()).close();
            }
        }
    }
}
