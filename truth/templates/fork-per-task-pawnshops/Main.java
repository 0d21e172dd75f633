import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Pledge tickets for the counters of a chain of pawnshops. */
public class @{Class} {
    private static final int TOOL_EACH = @{tool_each};
    private static final String[] ARTICLES = {"ring", "watch", "violin", "camera", "necklace", "brooch", "fur coat", "candlestick"};
    private static final Map<String, String> KINDS = Map.of("md5", "MD5", "sha1", "SHA-1", "sha256", "SHA-256");
    private static final AtomicLong issued = new AtomicLong();

    private static String appraise(int number) {
        StringBuilder sheet = new StringBuilder(4096).append(number).append('\n');
        long loan = 0;
        for (int i = 0; i < @{lines}; i++) {
            int value = Math.floorMod(number * 7919 + i * 104729, 48000);
            int interest = value * (100 + i % 7) / 10000;
            loan += value * 2 / 3 - interest;
            sheet.append(i + 1).append("  ").append(ARTICLES[(number + i) % ARTICLES.length]).append("  ");
            sheet.append(value / 100).append('.').append(value % 100).append("  interest ").append(interest).append('\n');
        }
        return sheet.append(loan).append('\n').toString();
    }

    private static String @{fnCamel}(String sheet) throws IOException {
        Process tool = new ProcessBuilder("@{algorithm}sum").start();
        try (var in = tool.getOutputStream()) {
            in.write(sheet.getBytes(StandardCharsets.UTF_8));
        }
        try (var out = tool.getInputStream()) {
            return new String(out.readAllBytes(), StandardCharsets.UTF_8).split(" ")[0];
        }
    }

    private static String digest(String sheet) throws Exception {
        MessageDigest sum = MessageDigest.getInstance(KINDS.get("@{algorithm}"));
        return HexFormat.of().formatHex(sum.digest(sheet.getBytes(StandardCharsets.UTF_8)));
    }

    private static void pledge(HttpExchange exchange) throws IOException {
        try (exchange) {
            int number = Integer.parseInt(exchange.getRequestURI().getPath().substring("/pledges/".length()));
            String sheet = appraise(number);
            boolean tool = TOOL_EACH > 0 && issued.incrementAndGet() % Math.max(TOOL_EACH, 1) == 0;
            byte[] answer = (sheet + (tool ? @{fnCamel}(sheet) : digest(sheet)) + "\n").getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer counter = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        counter.createContext("/pledges/", @{Class}::pledge);
        counter.setExecutor(Executors.newFixedThreadPool(3));
        counter.start();
    }
}
