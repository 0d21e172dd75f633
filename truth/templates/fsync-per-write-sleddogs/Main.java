import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/** The office of a sled dog race: when will a team be at the checkpoints that are ahead of it? */
public class @{Class} {
    record Leg(String name, int miles, int climb) {}
    record Estimate(String checkpoint, double at) {}

    private final List<Leg> legs = new ArrayList<>();
    private final FileChannel journal;
    private final List<Estimate> pending = new ArrayList<>();

    @{Class}(Path file) throws IOException {
        journal = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        for (int n = 0; n < @{legs}; n++) legs.add(new Leg("cp" + n, 6 + n * 37 % 19, n * 53 % 700));
    }

    void @{fnCamel}(List<Estimate> some) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Estimate one : some) text.append(one.checkpoint()).append(' ').append(one.at()).append('\n');
        journal.write(ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII)));
        journal.force(false);
    }

    void add(List<Estimate> all) throws IOException {
        if (@{group} == 0) {
            synchronized (pending) { pending.addAll(all); }
            return;
        }
        int step = Math.max(1, @{group});
        for (int at = 0; at < all.size(); at += step) @{fnCamel}(all.subList(at, Math.min(all.size(), at + step)));
    }

    void everySecond() {
        List<Estimate> some;
        synchronized (pending) {
            some = new ArrayList<>(pending);
            pending.clear();
        }
        try {
            if (!some.isEmpty()) @{fnCamel}(some);
        } catch (IOException gone) {
            throw new java.io.UncheckedIOException(gone);
        }
    }

    double pace(int team, int leg) {
        double tired = 1 + 0.004 * leg + 0.1 * Math.sin(team * 0.7 + leg * 0.3);
        return (legs.get(leg).miles() / 8.5 + legs.get(leg).climb() / 2200.0) * tired;
    }

    void answer(HttpExchange exchange) throws IOException {
        int team = Integer.parseInt(exchange.getRequestURI().getPath().split("/")[2]);
        List<Estimate> list = new ArrayList<>();
        double hours = 0;
        for (int leg = 0; leg < legs.size(); leg++) {
            hours += pace(team % 60, leg) + (leg % 12 == 11 ? 4 : 0);
            list.add(new Estimate(legs.get(leg).name(), Math.round(hours * 100) / 100.0));
        }
        add(list);
        StringBuilder json = new StringBuilder("{\"team\":" + team + ",\"list\":[");
        for (Estimate one : list) json.append("{\"checkpoint\":\"").append(one.checkpoint()).append("\",\"at\":").append(one.at()).append("},");
        json.setCharAt(json.length() - 1, ']');
        byte[] body = json.append('}').toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} office = new @{Class}(Path.of("@{work}/@{journal}"));
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(office::everySecond, 1, 1, TimeUnit.SECONDS);
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 50);
        server.createContext("/teams", office::answer);
        server.setExecutor(Executors.newSingleThreadExecutor());
        server.start();
    }
}
