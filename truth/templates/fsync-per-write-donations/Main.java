// Intake of a blood bank: a session's bags are entered in the register and get their numbers.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class @{Class} {
    static final class Register {
        private final ScheduledExecutorService keeper = Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, "register"));
        private final FileChannel file;
        private long last;
        private long behind;

        Register(Path path) throws IOException {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            if (@{every} == 0) {
                long millis = Math.round(@{period} * 1000);
                keeper.scheduleAtFixedRate(this::settleLater, millis, millis, TimeUnit.MILLISECONDS);
            }
        }

        Future<Long> handIn(String session, String bag) {
            return keeper.submit(() -> @{fnCamel}(session, bag.split(" ")));
        }

        private long @{fnCamel}(String session, String[] bag) throws IOException {
            last++;
            String line = String.format("%09d;%s;%s;%s;%s%n", last, session, bag[0], bag[1], "-".repeat(@{remark}));
            file.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
            behind++;
            if (behind == @{every}) {
                settle();
            }
            return last;
        }

        private void settle() throws IOException {
            if (behind > 0) {
                file.force(false);
                behind = 0;
            }
        }

        private void settleLater() {
            try {
                settle();
            } catch (IOException error) {
                System.err.println(error);
            }
        }
    }

    private final Register register;

    private @{Class}(Register register) {
        this.register = register;
    }

    private void session(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            String session = path.substring(path.lastIndexOf('/') + 1);
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            List<Future<Long>> numbers = new ArrayList<>();
            for (String bag : body.split(",")) {
                numbers.add(register.handIn(session, bag));
            }
            List<String> bags = new ArrayList<>();
            for (Future<Long> number : numbers) {
                bags.add(Long.toString(number.get(20, TimeUnit.SECONDS)));
            }
            byte[] text = ("{\"session\": " + session + ", \"bags\": [" + String.join(", ", bags) + "]}").getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(201, text.length);
            exchange.getResponseBody().write(text);
        } catch (Exception error) {
            throw new IOException(error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        @{Class} intake = new @{Class}(new Register(Path.of("@{work}/@{register}")));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", @{port}), 64);
        server.createContext("/sessions/", intake::session);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
    }
}
