import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;

/** Where a parcel goes, for those who hand it in: GET /parcels/NUMBER. */
public class @{Class} {
    private static final ConcurrentLinkedQueue<Planner> free = new ConcurrentLinkedQueue<>();

    private static final class Planner implements Closeable {
        private final Socket socket = new Socket("127.0.0.1", @{planner});
        private final BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream()));

        Planner() throws IOException {
            socket.setTcpNoDelay(true);
        }

        String[] plan(long parcel) throws IOException {
            socket.getOutputStream().write(("plan " + parcel + "\n").getBytes(StandardCharsets.US_ASCII));
            return answers.readLine().split(" ");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String @{fnCamel}(long parcel) throws IOException {
        Planner planner = free.poll();
        if (planner == null)
            planner = new Planner();
        String[] plan = planner.plan(parcel);
        free.add(planner);
        return "{\"parcel\":" + parcel + ",\"tour\":" + plan[0] + ",\"shelf\":" + plan[1] + "}";
    }

    private static void serve(HttpExchange exchange) throws IOException {
        byte[] body = @{fnCamel}(Long.parseLong(exchange.getRequestURI().getPath().split("/")[2])).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.createContext("/parcels/", @{Class}::serve);
        server.setExecutor(Executors.newFixedThreadPool(12));
        server.start();
    }
}
