import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/** Gift vouchers: an order gets its vouchers, each with a code that nobody can guess. */
public class @{Class} {
    private static final String SHOP = "@{shop}";
    private static final Pattern ROUTE = Pattern.compile("/orders/(\\d+)/vouchers");
    private static final int[] CENTS = {1000, 1500, 2500, 5000, 10000};

    private final AtomicInteger orders = new AtomicInteger();
    private final SecureRandom chance = new SecureRandom();
    private volatile String series;

    private @{Class}() {
        series = drawn(4);
    }

    private String @{fnCamel}(int size) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("@{tool}", "rand", "-hex", Integer.toString(size)).start();
        try (var answer = process.inputReader()) {
            String line = answer.readLine();
            if (process.waitFor() != 0 || line == null) {
                throw new IOException("no code was drawn");
            }
            return line.strip();
        }
    }

    private String drawn(int size) {
        byte[] bytes = new byte[size];
        chance.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    private String vouchersOf(int order) throws Exception {
        int count = orders.incrementAndGet();
        int every = @{series};
        if (every > 0 && count % every == 0) {
            series = @{fnCamel}(4);
        }
        var body = new StringBuilder("{\"order\":").append(order).append(",\"vouchers\":[");
        for (int place = 0; place < @{vouchers}; place++) {
            String code = "@{codes}".equals("tool") ? @{fnCamel}(@{letters}) : drawn(@{letters});
            CRC32 check = new CRC32();
            check.update((SHOP + series + code).getBytes(StandardCharsets.UTF_8));
            body.append(place > 0 ? "," : "").append("{\"code\":\"").append(code).append("\",\"cents\":").append(CENTS[(order + place) % CENTS.length])
                .append(",\"check\":\"").append(Long.toHexString(check.getValue())).append("\"}");
        }
        return body.append("]}").toString();
    }

    private void answer(HttpExchange exchange) throws IOException {
        Matcher found = ROUTE.matcher(exchange.getRequestURI().getPath());
        try (exchange) {
            if (!found.matches()) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] body;
            try {
                body = vouchersOf(Integer.parseInt(found.group(1))).getBytes(StandardCharsets.UTF_8);
            } catch (Exception error) {
                exchange.sendResponseHeaders(500, -1);
                return;
            }
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    public static void main(String[] words) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        var service = new @{Class}();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/orders/", service::answer);
        server.start();
    }
}
