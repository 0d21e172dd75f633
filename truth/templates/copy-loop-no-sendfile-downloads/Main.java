import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Gives out the films of an archive. */
public class @{Class} {
    static void @{fnCamel}(Path path, SocketChannel to) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            OutputStream out = Channels.newOutputStream(to);
            byte[] block = new byte[@{block}];
            for (int n; (n = in.read(block)) > 0; ) out.write(block, 0, n);
        }
    }

    static void pass(Path path, SocketChannel to) throws IOException {
        try (FileChannel in = FileChannel.open(path)) {
            for (long at = 0, size = in.size(); at < size; ) at += in.transferTo(at, size - at, to);
        }
    }

    static void mark(Path path, long size, SocketChannel to) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            byte[] block = new byte[65536];
            for (int n; size > 0 && (n = in.read(block, 0, (int) Math.min(block.length, size))) > 0; size -= n) {
                for (int i = 0; i < n; i++) block[i] ^= (byte) (i & 3);
                Channels.newOutputStream(to).write(block, 0, n);
            }
        }
    }

    static void serve(SocketChannel peer) {
        try (peer) {
            peer.setOption(StandardSocketOptions.TCP_NODELAY, true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(Channels.newInputStream(peer)));
            for (String ask; (ask = lines.readLine()) != null; ) {
                for (String line; (line = lines.readLine()) != null && !line.isEmpty(); ) { }
                Path path = Path.of("@{work}", Path.of(ask.split(" ")[1]).getFileName().toString());
                if (!Files.exists(path)) {
                    peer.write(ByteBuffer.wrap("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".getBytes()));
                    continue;
                }
                long size = (long) (Files.size(path) * @{part});
                peer.write(ByteBuffer.wrap(("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: " + size + "\r\n\r\n").getBytes()));
                switch ("@{mode}") {
                    case "copy": @{fnCamel}(path, peer); break;
                    case "sendfile": pass(path, peer); break;
                    default: mark(path, size, peer);
                }
            }
        } catch (IOException gone) {
            // The viewer left.
        }
    }

    public static void main(String[] args) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", @{port}), 64);
        while (true) {
            SocketChannel peer = server.accept();
            pool.execute(() -> serve(peer));
        }
    }
}
