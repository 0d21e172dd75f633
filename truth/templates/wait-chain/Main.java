import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Loans: an offer needs a limit, and a limit needs a score. */
public class @{Class} {
    private static final ExecutorService offers = Executors.newFixedThreadPool(4, task -> new Thread(task, "offers"));
    private static final ExecutorService limits = Executors.newFixedThreadPool(4, task -> new Thread(task, "limits"));
    private static final ThreadLocal<Socket> service = ThreadLocal.withInitial(() -> {
        try {
            Socket socket = new Socket("127.0.0.1", @{service});
            socket.setTcpNoDelay(true);
            return socket;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    });

    private static int score(String line) {
        try {
            Socket socket = service.get();
            socket.getOutputStream().write((line + "\n").getBytes());
            byte[] answer = new byte[100];
            return socket.getInputStream().read(answer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double limit(String line) {
        return CompletableFuture.supplyAsync(() -> score(line), limits).join() * 1000.0;
    }

    private static double @{fnCamel}(String line) {
        double limit = CompletableFuture.supplyAsync(() -> limit(line), offers).join();
        long start = System.nanoTime();
        while (System.nanoTime() - start < @{effort} * 1e6)
            limit = Math.sqrt(limit + 1) * 30;
        return limit;
    }

    private static void serve(Socket visitor) {
        try (visitor) {
            visitor.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(visitor.getInputStream()));
            String line;
            while ((line = lines.readLine()) != null)
                visitor.getOutputStream().write((@{fnCamel}(line) + "\n").getBytes());
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listener = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket visitor = listener.accept();
            new Thread(() -> serve(visitor), "visitor").start();
        }
    }
}
