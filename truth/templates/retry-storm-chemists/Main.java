import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The counters of a pharmacy: GET /prescriptions/N tells what the patient pays, and what the insurer does. */
public class @{Class} {
    /** The line to the clearing house, on which the calls of all counters go. */
    static final class ClearingHouse {
        private static final Pattern REPLY = Pattern.compile("\"id\":(\\d+),\"result\":\\{\"\\w+\":(\\d+)\\}");
        private final Map<Long, CompletableFuture<Integer>> waiting = new ConcurrentHashMap<>();
        private final AtomicLong last = new AtomicLong();
        private final Socket line;
        private final OutputStream out;

        ClearingHouse(int port) throws IOException {
            line = new Socket("127.0.0.1", port);
            line.setTcpNoDelay(true);
            out = line.getOutputStream();
            Thread reader = new Thread(this::read, "replies");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader replies = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.UTF_8))) {
                for (String text; (text = replies.readLine()) != null; ) {
                    Matcher reply = REPLY.matcher(text);
                    CompletableFuture<Integer> who = reply.find() ? waiting.remove(Long.parseLong(reply.group(1))) : null;
                    if (who != null)
                        who.complete(Integer.parseInt(reply.group(2)));
                }
            } catch (IOException error) {
                System.err.println("the clearing house: " + error);
            }
            System.exit(1);
        }

        private void send(byte[] text) throws IOException {
            synchronized (out) {
                out.write(text);
            }
        }

        int @{fnCamel}(String method, String params) throws IOException, InterruptedException, ExecutionException, TimeoutException {
            return @{fnCamel}(last.incrementAndGet(), method, params);
        }

        int @{fnCamel}(long id, String method, String params) throws IOException, InterruptedException, ExecutionException, TimeoutException {
            String call = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":{" + params + "}}\n";
            byte[] text = call.getBytes(StandardCharsets.UTF_8);
            CompletableFuture<Integer> answer = new CompletableFuture<>();
            waiting.put(id, answer);
            double limit = @{limit};
            for (int attempt = 0; attempt < @{tries}; attempt++) {
                send(text);
                try {
                    return answer.get((long) (limit * 1000), TimeUnit.MICROSECONDS);
                } catch (TimeoutException late) {
                    limit *= @{growth};
                }
            }
            waiting.remove(id);
            throw new TimeoutException("the clearing house does not answer");
        }
    }

    /** The mark on a package, by which a counterfeit is told. */
    private static String mark(int number) throws GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-1");
        byte[] sum = Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i <= @{rounds} / 12; i++)
            sum = digest.digest(sum);
        return HexFormat.of().formatHex(sum, 0, 6);
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    public static void main(String[] arguments) throws Exception {
        // Head and body of an answer are written one after the other.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        ClearingHouse house = new ClearingHouse(@{house});
        if (@{ask} > 0) {
            ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
            clock.scheduleAtFixedRate(() -> {
                try {
                    house.@{fnCamel}(0, "open", "");
                } catch (Exception error) {
                    System.err.println(error.getMessage());
                }
            }, 1, Math.max(@{ask}, 1), TimeUnit.MILLISECONDS);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/prescriptions/", exchange -> {
            int number = Integer.parseInt(exchange.getRequestURI().getPath().substring("/prescriptions/".length()));
            int cents = 400 + number * 7919 % 9000;
            try {
                int pays = house.@{fnCamel}("cover", "\"prescription\":" + number + ",\"insurer\":" + number % 90 + ",\"cents\":" + cents);
                answer(exchange, 200, "{\"mark\":\"" + mark(number) + "\",\"insurer\":" + pays + ",\"patient\":" + (cents - pays) + "}");
            } catch (Exception error) {
                System.err.println(number + ": " + error.getMessage());
                answer(exchange, 504, "" + error.getMessage());
            }
        });
        server.start();
    }
}
