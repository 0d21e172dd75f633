import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Shows baskets: what is in them, and what it costs. */
public class @{Class} {
    record Article(int cents, byte[] text) {}

    static final class Store implements AutoCloseable {
        private final SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of("@{work}/@{sock}"));
        private final DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel), 65536));

        Store() throws IOException {}

        List<Article> get(List<Long> keys) throws IOException {
            ByteBuffer frame = ByteBuffer.allocate(3 + 8 * keys.size()).put((byte) 0xA7).putShort((short) keys.size());
            keys.forEach(frame::putLong);
            frame.flip();
            while (frame.hasRemaining())
                channel.write(frame);
            in.skipNBytes(3);
            List<Article> articles = new ArrayList<>(keys.size());
            for (int i = 0; i < keys.size(); i++) {
                int cents = in.readInt();
                articles.add(new Article(cents, in.readNBytes(in.readUnsignedShort())));
            }
            return articles;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static List<Long> basket(long number) {
        List<Long> keys = new ArrayList<>();
        for (int i = 0; i < @{lines}; i++)
            keys.add((number * 1009 + i * 97L) % 100003);
        return keys;
    }

    private static long @{fnCamel}(Store store, List<Long> keys) throws IOException {
        long total = 0;
        if ("@{ask}".equals("all")) {
            for (Article article : store.get(keys))
                total += article.cents();
            return total;
        }
        for (Long key : keys)
            total += store.get(List.of(key)).get(0).cents();
        return total;
    }

    private static void serve(Socket client) {
        try (client; Store store = new Store()) {
            client.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream()));
            String line;
            while ((line = lines.readLine()) != null) {
                long total = @{fnCamel}(store, basket(Long.parseLong(line.substring(line.indexOf(' ') + 1).trim())));
                client.getOutputStream().write(("total " + total + "\n").getBytes());
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listener = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket client = listener.accept();
            new Thread(() -> serve(client), "customer").start();
        }
    }
}
