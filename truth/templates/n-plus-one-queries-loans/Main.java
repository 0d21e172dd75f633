// Accounts of a library's readers: what they have at home, what it costs them, what they might like next.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class @{Class} {
    record Title(int id, int due, int daily, String text) {}

    static final int TODAY = 20031;
    static final Pattern NUMBER = Pattern.compile("\"(id|due|daily)\":(\\d+)");
    static final Pattern OBJECT = Pattern.compile("\\{[^{}]*\\}");

    final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(2)).build();
    final double[][] tastes = new double[1500][16];

    @{Class}() {
        for (int shelf = 0; shelf < tastes.length; shelf++) {
            for (int i = 0; i < 16; i++) tastes[shelf][i] = Math.sin(shelf * 31 + i * 7);
        }
    }

    String get(String path) throws IOException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:@{store}" + path)).timeout(Duration.ofSeconds(5)).build();
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != 200) throw new IOException(path + ": " + answer.statusCode());
            return answer.body();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    static Title title(String text) {
        int id = 0, due = 0, daily = 0;
        Matcher found = NUMBER.matcher(text);
        while (found.find()) {
            int value = Integer.parseInt(found.group(2));
            switch (found.group(1)) {
                case "id" -> id = value;
                case "due" -> due = value;
                default -> daily = value;
            }
        }
        return new Title(id, due, daily, text);
    }

    List<Integer> loans(int reader) throws IOException {
        String text = get("/readers/" + reader);
        List<Integer> loans = new ArrayList<>();
        for (String word : text.substring(text.indexOf('[') + 1, text.indexOf(']')).split(",")) loans.add(Integer.parseInt(word.trim()));
        return loans;
    }

    List<Title> @{fnCamel}(List<Integer> loans) throws IOException {
        List<Title> titles = new ArrayList<>();
        if ("@{ask}".equals("list")) {
            Matcher found = OBJECT.matcher(get("/titles?ids=" + loans.stream().map(String::valueOf).collect(Collectors.joining(","))));
            while (found.find()) titles.add(title(found.group()));
            return titles;
        }
        for (int number : loans) titles.add(title(get("/titles/" + number)));
        return titles;
    }

    // What is overdue costs by the day, and never more than the book.
    static int fine(List<Title> titles) {
        return titles.stream().mapToInt(one -> Math.min(Math.max(0, TODAY - one.due) * one.daily, 1200)).sum();
    }

    // The shelf that is nearest to what the reader took before.
    int nextShelf(List<Title> titles) {
        int best = -1;
        double nearest = Double.MAX_VALUE;
        for (int round = 0; round < @{effort} * 2; round++) {
            double[] mine = tastes[(titles.get(0).id + round) % tastes.length];
            for (int shelf = 0; shelf < tastes.length; shelf++) {
                double far = 0;
                for (int i = 0; i < 16; i++) far += Math.abs(mine[i] - tastes[shelf][i]);
                if (far > 0 && far < nearest) {
                    nearest = far;
                    best = shelf;
                }
            }
        }
        return best;
    }

    void account(HttpExchange exchange) throws IOException {
        int status = 200;
        String text;
        try {
            int reader = Integer.parseInt(exchange.getRequestURI().getPath().split("/")[2]);
            List<Title> titles = @{fnCamel}(loans(reader));
            text = "{\"reader\":" + reader + ",\"fine\":" + fine(titles) + ",\"next_shelf\":" + nextShelf(titles) + ",\"titles\":["
                + titles.stream().map(Title::text).collect(Collectors.joining(",")) + "]}";
        } catch (IOException | RuntimeException e) {
            status = 502;
            text = "{\"error\":\"" + e + "\"}";
        }
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} library = new @{Class}();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/readers/", library::account);
        server.start();
    }
}
