import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Prices baskets: a few pricing threads, each with its own tables, serve all requests. */
public class @{Class} {
    record Basket(long id, String number, CompletableFuture<byte[]> price) {}

    static final BlockingQueue<Basket> baskets = new LinkedBlockingQueue<>();
    static final Map<Long, byte[]> prices = new ConcurrentHashMap<>();
    static final AtomicLong ids = new AtomicLong(), priced = new AtomicLong();

    static void pricing() {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            while (true) {
                Basket basket = baskets.take();
                byte[] tables = new byte[@{bytes}], mark = basket.number.getBytes();
                for (long end = System.nanoTime() + (long) (@{job_ms} * 1e6); System.nanoTime() < end; ) mark = digest.digest(mark);
                for (int i = 0; i < tables.length; i++) tables[i] = (byte) ('a' + (mark[i % mark.length] & 15));
                if ("@{wait}".equals("told")) basket.price.complete(tables);
                else prices.put(basket.id, tables);
                priced.incrementAndGet();
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    static byte[] @{fnCamel}(Basket basket) throws Exception {
        if ("@{wait}".equals("told")) return basket.price.get();
        byte[] found;
        while ((found = prices.remove(basket.id)) == null) Thread.sleep((long) (@{pause} * 1000));
        return found;
    }

    static void serve(HttpExchange exchange) throws IOException {
        Basket basket = new Basket(ids.incrementAndGet(), exchange.getRequestURI().getPath(), new CompletableFuture<>());
        baskets.add(basket);
        try {
            byte[] body = @{fnCamel}(basket);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (Exception error) {
            exchange.sendResponseHeaders(500, -1);
        } finally {
            exchange.close();
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        for (int i = 0; i < @{workers}; i++) new Thread(@{Class}::pricing, "pricing-" + i).start();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", @{Class}::serve);
        server.start();
        long last = 0;
        while (true) {
            Thread.sleep((long) (@{tick} * 1000));
            last = priced.get() - last;
        }
    }
}
