import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The desk of a ropeway's valley station: sells single rides at the gates. */
public class @{Class} {
    record Ticket(String gate, int price) {
    }

    private final Path office;
    private final ConcurrentHashMap<String, Integer> sold = new ConcurrentHashMap<>();

    @{Class}(Path office) {
        this.office = office;
    }

    Ticket @{fnCamel}(long pass) throws IOException {
        String gate = "gate-" + pass % 6;
        if (Files.exists(office.resolve("blocked").resolve("pass-" + pass % 2000))) {
            return new Ticket(gate, -1);
        }
        List<String> prices = Files.readAllLines(office.resolve("tariffs").resolve("piste-" + pass % 24));
        int count = sold.merge(gate, 1, Integer::sum);
        int sum = 0;
        for (int i = 0; i < Math.min(5, prices.size()); i++) {
            sum += Integer.parseInt(prices.get((i * 7 + count) % prices.size()));
        }
        return new Ticket(gate, sum / 5);
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = socket.getOutputStream();
            for (String line; (line = in.readLine()) != null;) {
                Ticket ticket = @{fnCamel}(Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)));
                String answer = ticket.price() < 0 ? "no " + ticket.gate() : "yes " + ticket.gate() + " " + ticket.price();
                out.write((answer + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException | NumberFormatException e) {
            System.err.println("gate: " + e);
        }
    }

    public static void main(String[] words) throws IOException {
        try (var tariffs = Files.list(Path.of("@{work}/@{first}/tariffs"))) {
            System.err.println(tariffs.count() + " tariffs");
        }
        @{Class} desk = new @{Class}(Path.of("@{work}/@{source}"));
        ExecutorService gates = Executors.newCachedThreadPool();
        try (ServerSocket server = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = server.accept();
                gates.execute(() -> desk.serve(socket));
            }
        }
    }
}
