import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** Answers hello with four threads: Hello PORT. */
class Hello {
    public static void main(String[] args) throws Exception {
        // Without it the JDK's server writes head and body apart, and the answer waits for a delayed ACK.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 50);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            byte[] answer = "hello\n".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            try (var body = exchange.getResponseBody()) {
                body.write(answer);
            }
        });
        server.start();
    }
}
