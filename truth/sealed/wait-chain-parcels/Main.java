import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Where a parcel goes, for those who hand it in: GET /parcels/NUMBER. */
public class @{Class} {
    private static final ConcurrentLinkedQueue<Planner> free = new ConcurrentLinkedQueue<>();

    private static final class Planner implements Closeable {
        private final Socket socket = new Socket("127.0.0.1", @{planner});
        private final BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream()));

        Planner() throws IOException {
            socket.setTcpNoDelay(true);
        }

        String[] plan(long parcel) throws IOException {
            socket.getOutputStream().write(("plan " + parcel + "\n").getBytes(StandardCharsets.US_ASCII));
            return answers.readLine().split(" ");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String @{fnCamel}(long parcel) throws IOException {
        Planner planner = free.poll();
        if (planner == null)
            planner = new Planner();
        String[] plan = planner.plan(parcel);
        free.add(planner);
        return "{\"parcel\":" + parcel + ",\"tour\":" + plan[0] + ",\"shelf\":" + plan[1] + "}";
    }

    private static byte[] answer(String request) throws IOException {
        String body = @{fnCamel}(Long.parseLong(request.split(" ")[1].split("/")[2]));
        String head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n";
        return (head + body).getBytes(StandardCharsets.US_ASCII);
    }

    private static void serve(Socket client) {
        try (client; BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            client.setTcpNoDelay(true);
            for (String request; (request = lines.readLine()) != null; ) {
                while (!lines.readLine().isEmpty())
                    ;
                client.getOutputStream().write(answer(request));
            }
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        // Without the planner there is nothing to serve.
        answer("GET /parcels/0 HTTP/1.1");
        ExecutorService clients = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = door.accept();
                clients.execute(() -> serve(client));
            }
        }
    }
}
