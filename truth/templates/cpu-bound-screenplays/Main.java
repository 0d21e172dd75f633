import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Serves the plays of a theatre with marks: who speaks, who enters and leaves, and where in the text that is. */
public class @{Class} {
    record Place(int line, int column) {}

    record Mark(String kind, String who, Place place) {
        String json() {
            return "{\"kind\":\"%s\",\"who\":\"%s\",\"line\":%d,\"column\":%d}".formatted(kind, who, place.line, place.column);
        }
    }

    static final class Script {
        private static final Pattern MARK = Pattern.compile("^([A-Z]+): |\\[([A-Z]+) (?:enters|leaves)\\]", Pattern.MULTILINE);
        final String title;
        private final String text;
        private final int[] starts;

        Script(Path path) throws IOException {
            title = path.getFileName().toString();
            text = Files.readString(path);
            starts = "@{places}".equals("table") ? lineStarts(text) : null;
        }

        private static int[] lineStarts(String text) {
            int[] starts = new int[(int) text.chars().filter(letter -> letter == '\n').count() + 1];
            for (int at = text.indexOf('\n'), line = 1; at >= 0; at = text.indexOf('\n', at + 1)) {
                starts[line++] = at + 1;
            }
            return starts;
        }

        private Place @{fnCamel}(int at) {
            if (starts != null) {
                int found = Arrays.binarySearch(starts, at);
                int line = found >= 0 ? found : -found - 2;
                return new Place(line + 1, at - starts[line] + 1);
            }
            int line = 1;
            int column = 1;
            for (int i = 0; i < at; i++) {
                if (text.charAt(i) == '\n') {
                    line++;
                    column = 1;
                } else {
                    column++;
                }
            }
            return new Place(line, column);
        }

        List<Mark> marks() {
            List<Mark> marks = new ArrayList<>();
            Matcher matcher = MARK.matcher(text);
            while (matcher.find()) {
                Place place = @{fnCamel}(matcher.start());
                marks.add(matcher.group(1) != null ? new Mark("speaks", matcher.group(1), place) : new Mark("moves", matcher.group(2), place));
            }
            return marks;
        }
    }

    private static void answer(HttpExchange exchange, List<Script> scripts) throws IOException {
        try {
            int number = Integer.parseInt(exchange.getRequestURI().getPath().split("/")[2]);
            Script script = scripts.get(number % scripts.size());
            List<Mark> marks = script.marks();
            StringBuilder body = new StringBuilder("{\"title\":\"" + script.title + "\",\"count\":" + marks.size() + ",\"marks\":[");
            for (int i = 0; i < Math.min(200, marks.size()); i++) {
                body.append(i > 0 ? "," : "").append(marks.get(i).json());
            }
            byte[] text = body.append("]}").toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
        } finally {
            exchange.close();
        }
    }

    public static void main(String[] args) throws IOException {
        List<Script> scripts = new ArrayList<>();
        for (int number = 0; number < 8; number++) {
            scripts.add(new Script(Path.of("@{work}/@{plays}/play-" + number + ".txt")));
        }
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.createContext("/plays/", exchange -> answer(exchange, scripts));
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
    }
}
