import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** Stock by article; connections to the store are kept and lent. */
public class @{Class} {
    static final class Store {
        final Socket socket = new Socket("127.0.0.1", @{store});
        final BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream()));

        Store() throws IOException {
            socket.setTcpNoDelay(true);
        }

        String count(String article) throws IOException {
            socket.getOutputStream().write(("count " + article + "\n").getBytes());
            return answers.readLine();
        }
    }

    private final LinkedBlockingQueue<Store> connections = new LinkedBlockingQueue<>();

    private String @{fnCamel}(String article) throws IOException, InterruptedException {
        Store store = connections.take();
        try {
            return store.count(article);
        } finally {
            connections.put(store);
        }
    }

    private void page(Socket visitor) {
        try (visitor) {
            visitor.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(visitor.getInputStream()));
            String request = lines.readLine(), line = request;
            while (line != null && !line.isEmpty())
                line = lines.readLine();
            if (request == null)
                return;
            String body = @{fnCamel}(request.split(" ")[1]) + "\n";
            visitor.getOutputStream().write(("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
        } catch (IOException | InterruptedException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} service = new @{Class}();
        for (int i = 0; i < @{workers}; i++)
            service.connections.add(new Store());
        ExecutorService pool = Executors.newFixedThreadPool(@{workers}, task -> new Thread(task, "page"));
        ServerSocket listener = new ServerSocket(@{port}, 100, InetAddress.getLoopbackAddress());
        while (true) {
            Socket visitor = listener.accept();
            pool.submit(() -> service.page(visitor));
        }
    }
}
