import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Says to whom a request goes. */
public class @{Class} {
    private static final ThreadLocal<Properties> known = new ThreadLocal<>();
    private static final ThreadLocal<Long> since = new ThreadLocal<>();

    private static int @{fnCamel}(String key) throws IOException {
        long now = System.nanoTime();
        Properties settings = known.get();
        if (settings == null || now - since.get() >= @{ttl} * 1_000_000_000L) {
            settings = new Properties();
            try (InputStream in = new FileInputStream("@{work}/@{deep}/@{config}")) {
                settings.load(in);
            }
            known.set(settings);
            since.set(now);
        }
        return Integer.parseInt(settings.getProperty(key));
    }

    private static long route(long number) throws IOException {
        long sum = number;
        for (int i = 0; i < @{looks}; i++) {
            int limit = @{fnCamel}("limit." + (1 + (number + i) % @{lines}));
            for (int k = 0; k < @{extra} * 20; k++)
                sum = sum * 31 + limit;
        }
        return sum;
    }

    private static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            OutputStream out = socket.getOutputStream();
            for (String line; (line = in.readLine()) != null;)
                out.write(("routed " + route(Long.parseLong(line.split(" ")[1])) + "\n").getBytes());
        } catch (IOException gone) {
            // The next one will come.
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 40; i++)
            route(i);
        ExecutorService pool = Executors.newCachedThreadPool();
        try (ServerSocket server = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = server.accept();
                pool.submit(() -> serve(socket));
            }
        }
    }
}
