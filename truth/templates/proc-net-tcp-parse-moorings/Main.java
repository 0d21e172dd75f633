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
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The port's wireless desk. A vessel that comes is given a pass, unless the links are full. */
public class @{Class} {
    interface Occupancy {
        long links() throws IOException;
    }

    static class Table implements Occupancy {
        public long links() throws IOException {
            return @{fnCamel}(Path.of("/proc/net/tcp"));
        }

        long @{fnCamel}(Path table) throws IOException {
            long open = 0;
            for (String line : Files.readAllLines(table, StandardCharsets.US_ASCII)) {
                String[] fields = line.trim().split("\\s+");
                if (fields.length < 10 || !fields[3].equals("01")) continue;
                if (Integer.parseInt(fields[1].split(":")[1], 16) > 0) open++;
            }
            return open;
        }
    }

    static class Summary implements Occupancy {
        public long links() throws IOException {
            for (String line : Files.readAllLines(Path.of("/proc/net/sockstat")))
                if (line.startsWith("TCP: ")) return Long.parseLong(line.split(" ")[2]);
            return 0;
        }
    }

    private final Occupancy occupancy = "@{from}".equals("table") ? new Table() : new Summary();
    private final Map<String, String> passes = new ConcurrentHashMap<>();

    private String answer(String ask) throws Exception {
        String[] words = ask.split(" ");
        if (words.length != 2 || !words[0].equals("@{verb}")) return "error what";
        if (occupancy.links() >= 60000) return "wait";
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] pass = words[1].getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < @{rounds}; round++) pass = digest.digest(pass);
        passes.put(words[1], HexFormat.of().formatHex(pass, 0, 8));
        return "pass " + passes.get(words[1]);
    }

    private void serve(Socket vessel) {
        try (vessel; BufferedReader in = new BufferedReader(new InputStreamReader(vessel.getInputStream()))) {
            vessel.setTcpNoDelay(true);
            OutputStream out = vessel.getOutputStream();
            for (String ask = in.readLine(); ask != null; ask = in.readLine())
                out.write((answer(ask) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (Exception gone) {
            System.err.println("a vessel: " + gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} desk = new @{Class}();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try (ServerSocket server = new ServerSocket(@{port}, 50, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                Socket vessel = server.accept();
                pool.execute(() -> desk.serve(vessel));
            }
        }
    }
}
