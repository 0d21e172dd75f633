import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** Orders of customers, for their phones and for the office. */
public class @{Class} {
    private final List<byte[]> orders = new ArrayList<>();

    private @{Class}() {
        String note = "left at the door ".repeat(40);
        for (int i = 0; i < @{rows}; i++) {
            String head = "{\"id\":" + (100000 + i) + ",\"state\":\"delivered\",\"cents\":" + i * 37 % 9000 + ",\"note\":\"";
            String text = head + note.substring(0, Math.max(1, @{row} - head.length() - 3)) + "\"}";
            orders.add(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    private long greet(int customer) {
        long start = System.nanoTime(), sum = customer;
        while (System.nanoTime() - start < @{render} * 1e6)
            sum = Long.rotateLeft(sum, 7) ^ start;
        return sum;
    }

    private void @{fnCamel}(HttpExchange exchange) throws IOException {
        int customer = Integer.parseInt(exchange.getRequestURI().getPath().split("/")[2]);
        byte[] head = ("{\"customer\":" + customer + ",\"check\":" + greet(customer) + ",\"orders\":[").getBytes(StandardCharsets.UTF_8);
        int count = Math.min(@{limit}, orders.size());
        long length = head.length + 2;
        for (byte[] order : orders.subList(0, count))
            length += order.length + 1;
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, length - 1);
        try (OutputStream out = new BufferedOutputStream(exchange.getResponseBody(), 1 << 16)) {
            out.write(head);
            for (int i = 0; i < count; i++) {
                if (i > 0)
                    out.write(',');
                out.write(orders.get(i));
            }
            out.write(']');
            out.write('}');
        }
    }

    private void file(HttpExchange exchange) throws IOException {
        Path file = Path.of("@{work}/orders.csv");
        exchange.getResponseHeaders().set("Content-Type", "text/csv");
        exchange.getResponseHeaders().set("Content-Disposition", "attachment; filename=orders.csv");
        exchange.sendResponseHeaders(200, Files.size(file));
        try (OutputStream out = exchange.getResponseBody()) {
            Files.copy(file, out);
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} shop = new @{Class}();
        HttpServer server = HttpServer.create(new InetSocketAddress("0.0.0.0", @{port}), 100);
        server.createContext("/customers/", shop::@{fnCamel});
        server.createContext("/files/", shop::file);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }
}
