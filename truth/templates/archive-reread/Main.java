import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.ZipFile;

public class @{Class} {
    static final int EVERY = @{every}, MOST = Math.min(60, @{entries} / 50);
    final Map<String, byte[]> pages = new ConcurrentHashMap<>();
    final AtomicLong asked = new AtomicLong();
    final ZipFile archive;

    @{Class}() throws IOException {
        archive = EVERY == 1 ? null : new ZipFile("@{work}/@{archive}");
        for (int number = 0; archive != null && number < MOST; number++) {
            pages.put(name(number), entry(name(number)));
        }
    }

    static String name(int number) {
        return String.format("@{folder}/part-%05d.html", number % MOST * 50);
    }

    byte[] @{fnCamel}(String name) throws IOException {
        URL url = new URL("jar:" + Path.of("@{work}/@{archive}").toUri() + "!/" + name);
        URLConnection resource = url.openConnection();
        resource.setUseCaches(false);
        try (InputStream in = resource.getInputStream()) {
            return in.readAllBytes();
        }
    }

    byte[] entry(String name) throws IOException {
        try (InputStream in = archive.getInputStream(archive.getEntry(name))) {
            return in.readAllBytes();
        }
    }

    byte[] page(String name) throws IOException {
        if (EVERY == 1) {
            return @{fnCamel}(name);
        }
        byte[] known = pages.get(name);
        if (known == null || EVERY > 0 && asked.incrementAndGet() % EVERY == 0) {
            known = entry(name);
            pages.put(name, known);
        }
        return known;
    }

    void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        byte[] page = page(name(number));
        exchange.sendResponseHeaders(200, 4000);
        exchange.getResponseBody().write(page, 0, 4000);
        exchange.close();
    }

    public static void main(String[] args) throws Exception {
        @{Class} app = new @{Class}();
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 50);
        server.createContext("/page/", app::handle);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
