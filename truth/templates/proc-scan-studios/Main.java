import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the renderers of a studio have used, for its accounts: GET /usage/STUDIO. */
public class @{Class} {
    private static final Path PROCESSES = Path.of("/proc");
    private static final Path LISTS = Path.of("@{work}/studios");
    private static final Pattern ROUTE = Pattern.compile("/usage/(\\d+)");
    private static final long CENSUS_MS = Math.round(@{census} * 1000);

    private volatile Map<Integer, Usage> last = Map.of();

    private record Usage(int renderers, long ticks, long pages) {
        static final Usage NONE = new Usage(0, 0, 0);

        Usage plus(Usage other) {
            return new Usage(renderers + other.renderers, ticks + other.ticks, pages + other.pages);
        }
    }

    /** Adds what a process has used to the sum of its studio, if it is a renderer and still there. */
    private static void count(Path process, Map<Integer, Usage> sums) {
        String line;
        try {
            line = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return;
        }
        int name = line.indexOf("(render s");
        int end = line.lastIndexOf(')');
        if (name < 0 || end < name) {
            return;
        }
        String[] fields = line.substring(end + 2).split(" ");
        int studio = Integer.parseInt(line.substring(name + 9, end));
        Usage usage = new Usage(1, Long.parseLong(fields[11]) + Long.parseLong(fields[12]), Long.parseLong(fields[21]));
        sums.merge(studio, usage, Usage::plus);
    }

    private static Map<Integer, Usage> @{fnCamel}() throws IOException {
        Map<Integer, Usage> sums = new HashMap<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (Path process : processes) {
                count(process, sums);
            }
        }
        return sums;
    }

    private static Map<Integer, Usage> listed(int studio) throws IOException {
        Map<Integer, Usage> sums = new HashMap<>();
        for (String process : Files.readAllLines(LISTS.resolve(Integer.toString(studio)))) {
            count(PROCESSES.resolve(process), sums);
        }
        return sums;
    }

    private void takeCensus() {
        try {
            last = @{fnCamel}();
        } catch (IOException error) {
            System.err.println("census: " + error.getMessage());
        }
    }

    private String usageOf(int studio) throws IOException {
        Map<Integer, Usage> sums = switch ("@{usage}") {
            case "all" -> @{fnCamel}();
            case "census" -> last;
            default -> listed(studio);
        };
        Usage usage = sums.getOrDefault(studio, Usage.NONE);
        return String.format(Locale.ROOT, "{\"studio\":%d,\"renderers\":%d,\"seconds\":%.2f,\"mb\":%d}",
            studio, usage.renderers(), usage.ticks() / 100.0, usage.pages() / 256);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Matcher asked = ROUTE.matcher(exchange.getRequestURI().getPath());
            if (!asked.matches()) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            byte[] body = usageOf(Integer.parseInt(asked.group(1)) % @{studios} + 1).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    public static void main(String[] words) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} accounts = new @{Class}();
        if (CENSUS_MS > 0) {
            accounts.takeCensus();
            var clock = Executors.newSingleThreadScheduledExecutor();
            clock.scheduleWithFixedDelay(accounts::takeCensus, CENSUS_MS, CENSUS_MS, TimeUnit.MILLISECONDS);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(6));
        server.createContext("/usage/", accounts::answer);
        server.start();
    }
}
