import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;

/** Serves the pages of old church books to the readers at the desks. */
public class @{Class} {
    private static final int PAGE = @{page_kb} * 1024;
    private final FileChannel book;
    private final long pages;

    @{Class}(Path path) throws IOException {
        book = FileChannel.open(path);
        pages = Math.min(@{open}, book.size() / PAGE);
    }

    private ByteBuffer @{fnCamel}(long page) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(PAGE);
        long place = page * PAGE;
        while (text.hasRemaining() && book.read(text, place + text.position()) > 0) { }
        return text.flip();
    }

    private void show(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            long number = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
            // The catalogue has the pages in the order of the names.
            long page = ((number + 1) * 2654435761L & 0xffffffffL) % pages;
            ByteBuffer text = @{fnCamel}(page);
            CRC32 sum = new CRC32();
            sum.update(text.duplicate());
            exchange.getResponseHeaders().set("ETag", "\"" + page + "-" + Long.toHexString(sum.getValue()) + "\"");
            exchange.sendResponseHeaders(200, text.remaining());
            exchange.getResponseBody().write(text.array(), 0, text.remaining());
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} room = new @{Class}(Path.of("@{work}/@{disk}/@{data}"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 20);
        server.createContext("/page/", room::show);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
