import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Plans the walks of a kennel: which dogs go with which, so that none is beside one that it cannot bear. */
public class @{Class} {
    static void join(String group, long pid) throws IOException {
        Files.writeString(Path.of("/sys/fs/cgroup/cpu", group, "cgroup.procs"), Long.toString(pid));
    }

    static int @{fnCamel}(long seed, int rounds) {
        int[] row = new int[@{dogs} * 4];
        for (int i = 0; i < row.length; i++) {
            row[i] = i;
        }
        int best = Integer.MAX_VALUE;
        long chance = seed * 2862933555777941757L + 3037000493L;
        for (int round = 0; round < rounds; round++) {
            chance = chance * 2862933555777941757L + 3037000493L;
            int from = (int) (chance >>> 33) % row.length, to = (int) (chance >>> 40) % row.length;
            int dog = row[from];
            row[from] = row[to];
            row[to] = dog;
            int quarrels = 0;
            for (int i = 1; i < row.length; i++) {
                quarrels += (row[i] * 31 ^ row[i - 1] * 17) & 7;
            }
            best = Math.min(best, quarrels);
        }
        return best;
    }

    static void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        long dog = Long.parseLong(path.substring(path.lastIndexOf('/') + 1));
        List<String> walks = new ArrayList<>();
        for (String time : new String[] {"morning", "noon", "evening"}) {
            walks.add(time + ": " + @{fnCamel}(dog + time.length(), @{effort_ms} * 14000 / @{dogs}) + " quarrels");
        }
        byte[] text = String.join("\n", walks).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    public static void main(String[] arguments) throws Exception {
        // Compiled before anybody asks, and before the house's share is taken.
        int sum = 0;
        for (int warm = 0; warm < 300; warm++) {
            sum += @{fnCamel}(warm, 3000);
        }
        if (arguments.length > 0) {
            join("@{yard}-show", ProcessHandle.current().pid());
            for (long show = 0; sum != 0; show++) {
                sum |= @{fnCamel}(show, 100000) | 1;
            }
        }
        join("@{yard}", ProcessHandle.current().pid());
        if (@{fair} == 1) {
            String java = ProcessHandle.current().info().command().orElse("java");
            new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), @{Class}.class.getName(), "show").inheritIO().start();
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), @{port}), 64);
        server.createContext("/dogs/", @{Class}::answer);
        server.start();
    }
}
