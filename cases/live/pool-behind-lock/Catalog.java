// A catalogue service: java [-Drefresh=behind] Catalog PORT REDIS_PORT. Four workers answer from a list that all share; when the
// list is older than 100 ms, the worker that finds it so renews it from Redis, while it holds the lock that all take.
import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

public class Catalog {
    static final long FRESH_NS = 100_000_000;
    static final Object lock = new Object();
    static final boolean behind = "behind".equals(System.getProperty("refresh"));
    static volatile List<String> items = List.of();
    static volatile long renewedAt = System.nanoTime() - FRESH_NS;
    static Socket redis;
    static DataInputStream answers;

    static List<String> smembers(String key) throws IOException {
        redis.getOutputStream().write(("*2\r\n$8\r\nSMEMBERS\r\n$" + key.length() + "\r\n" + key + "\r\n").getBytes(StandardCharsets.UTF_8));
        int count = Integer.parseInt(line().substring(1));
        List<String> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            line();
            members.add(line());
        }
        return members;
    }

    static String line() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int c; (c = answers.read()) != '\r'; ) {
            if (c < 0) throw new EOFException("redis has left");
            text.append((char) c);
        }
        answers.read();
        return text.toString();
    }

    static void renew() {
        try {
            items = smembers("catalog:items");
            renewedAt = System.nanoTime();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    static List<String> current() {
        if (behind) {
            return items;
        }
        synchronized (lock) {
            if (System.nanoTime() - renewedAt > FRESH_NS) {
                renew();
            }
            return items;
        }
    }

    static void answer(HttpExchange exchange) throws IOException {
        byte[] body = (String.join(",", current()) + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        redis = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
        redis.setTcpNoDelay(true);
        answers = new DataInputStream(new BufferedInputStream(redis.getInputStream()));
        renew();
        if (behind) {
            Executors.newSingleThreadScheduledExecutor().scheduleWithFixedDelay(Catalog::renew, 100, 100, TimeUnit.MILLISECONDS);
        }
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])), 50);
        server.createContext("/catalog", Catalog::answer);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
