import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/** Keeps the protocol of a gymnastics meeting: marks come from tablets of the judges. */
public class @{Class} {
    static final class Gymnast {
        final int number;
        final int[] marks = new int[6];
        final String notes;
        byte[] row;

        Gymnast(int number) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; text.length() < @{notes}; i++)
                text.append("element ").append(number % 17).append('.').append(i).append(" minus ").append((number + i * 31) % 9).append(',');
            this.number = number;
            this.notes = text.substring(0, @{notes});
            write();
        }

        void write() {
            row = (number + ";" + Arrays.toString(marks) + ";" + Arrays.stream(marks).sum() + ";" + notes + "\n").getBytes(StandardCharsets.US_ASCII);
        }
    }

    private final List<Gymnast> all = new ArrayList<>(), latest = new ArrayList<>();

    @{Class}() {
        for (int number = 0; number < @{gymnasts}; number++)
            all.add(new Gymnast(number));
    }

    private synchronized void mark(int number, int apparatus, int points) {
        Gymnast gymnast = all.get(number % all.size());
        gymnast.marks[apparatus % 6] = points;
        gymnast.write();
        latest.add(gymnast);
    }

    private static Map<String, Integer> numbers(String query) {
        Map<String, Integer> numbers = new HashMap<>();
        if (query != null)
            for (String pair : query.split("&")) {
                String[] parts = pair.split("=", 2);
                numbers.put(parts[0], Integer.parseInt(parts[1]));
            }
        return numbers;
    }

    private synchronized byte[] rows(int seen) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (Gymnast gymnast : seen < 0 ? all : latest.subList(Math.min(seen, latest.size()), latest.size()))
            text.writeBytes(gymnast.row);
        return text.toByteArray();
    }

    private synchronized int version() {
        return latest.size();
    }

    private void @{fnCamel}(HttpExchange exchange, int seen) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/csv");
        exchange.getResponseHeaders().set("X-Version", Integer.toString(version()));
        byte[] text = rows(seen);
        exchange.sendResponseHeaders(200, text.length == 0 ? -1 : text.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(text);
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} meeting = new @{Class}();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), @{port}), 64);
        server.createContext("/version", exchange -> {
            exchange.getResponseHeaders().set("X-Version", Integer.toString(meeting.version()));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.createContext("/protocol.csv", exchange -> meeting.@{fnCamel}(exchange, -1));
        server.createContext("/marks", exchange -> {
            Map<String, Integer> asked = numbers(exchange.getRequestURI().getQuery());
            meeting.mark(asked.get("gymnast"), asked.get("apparatus"), asked.get("mark"));
            meeting.@{fnCamel}(exchange, @{whole} == 1 ? -1 : asked.get("seen"));
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }
}
