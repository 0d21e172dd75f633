import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Plans the night of an observatory: how well a target is seen, and when. */
public class @{Class} {
    private static final String ORDER = "@{order}";
    private static final String[] SERVICES = {"dome", "seeing", "moon", "satellites", "wind", "clouds"};
    private static final int[] WEIGHTS = {2, 5, 3, 1, 2, 7};

    private final ExecutorService callers = Executors.newFixedThreadPool(16);

    private static int ask(String what, int target, int after) throws IOException {
        String query = "?target=" + target + (after < 0 ? "" : "&after=" + after);
        try (var answer = new URL("http://127.0.0.1:@{sky}/" + what + query).openStream()) {
            String json = new String(answer.readAllBytes());
            return Integer.parseInt(json.substring(json.lastIndexOf(':') + 1, json.indexOf('}')).trim());
        }
    }

    private Map<String, Integer> @{fnCamel}(int target) throws Exception {
        Map<String, Integer> found = new LinkedHashMap<>();
        if (ORDER.equals("once")) {
            Map<String, Future<Integer>> open = new LinkedHashMap<>();
            for (String what : SERVICES) {
                open.put(what, callers.submit(() -> ask(what, target, -1)));
            }
            for (String what : SERVICES) {
                found.put(what, open.get(what).get());
            }
            return found;
        }
        int last = 0;
        for (String what : SERVICES) {
            last = ask(what, target, ORDER.equals("chain") ? last : -1);
            found.put(what, last);
        }
        return found;
    }

    private static int bestMinute(int target) {
        double declination = Math.toRadians(target * 37 % 120 - 40), highest = -2;
        int minute = 0;
        for (int step = 0; step < @{samples} * 20000; step++) {
            double angle = (step / 20000.0 - target % 24) * Math.PI / 12;
            double sine = Math.sin(declination) * 0.7 + Math.cos(declination) * 0.714 * Math.cos(angle);
            if (sine > highest) {
                highest = sine;
                minute = step;
            }
        }
        return minute;
    }

    private void plan(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        int target = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        int status = 200;
        byte[] text = new byte[0];
        try {
            int worth = 0, i = 0;
            for (int value : @{fnCamel}(target).values()) {
                worth += value * WEIGHTS[i++];
            }
            text = ("{\"target\": " + target + ", \"minute\": " + bestMinute(target) + ", \"worth\": " + worth + "}").getBytes();
        } catch (Exception problem) {
            status = 502;
        }
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, text.length == 0 ? -1 : text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} planner = new @{Class}();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/plan/", planner::plan);
        server.start();
    }
}
