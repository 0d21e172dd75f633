import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Books entries under a lock. With `held` the books are closed under it too, which takes its time; else beside it. */
public class Ledger {
    private static final Object LOCK = new Object();
    private static long entries;

    public static void main(String[] arguments) throws IOException {
        boolean held = arguments[1].equals("held");
        Thread closer = new Thread(() -> closeBooks(held), "closer");
        closer.start();
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(arguments[0]));
        while (true) {
            SocketChannel client = server.accept();
            new Thread(() -> serve(client), "poster").start();
        }
    }

    static void serve(SocketChannel client) {
        ByteBuffer entry = ByteBuffer.allocate(256);
        try (client) {
            while (client.read(entry.clear()) > 0) {
                client.write(ByteBuffer.wrap((post() + "\n").getBytes()));
            }
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    static long post() {
        synchronized (LOCK) {
            return ++entries;
        }
    }

    static void closeBooks(boolean held) {
        while (true) {
            synchronized (LOCK) {
                entries += 2;
                if (held) {
                    sendToArchive();
                }
            }
            if (!held) {
                sendToArchive();
            }
            pause(4);
        }
    }

    /** The archive is far away. */
    static void sendToArchive() {
        pause(60);
    }

    static void pause(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }
}
