import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Says how much credit a customer has. */
public class @{Class} {
    /** The line of one thread to the service. */
    static final class Scores {
        private final BufferedReader in;
        private final Writer out;

        Scores() {
            try {
                Socket socket = new Socket("127.0.0.1", @{service});
                socket.setTcpNoDelay(true);
                in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                out = new OutputStreamWriter(socket.getOutputStream());
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        String @{fnCamel}(String customer) throws IOException {
            out.write(customer + "\n");
            out.flush();
            return in.readLine();
        }
    }

    private static final ThreadLocal<Scores> SCORES = ThreadLocal.withInitial(Scores::new);

    private static long weigh(String score) {
        long start = System.nanoTime(), sum = score.hashCode();
        while (System.nanoTime() - start < @{effort} * 1e6)
            sum = sum * 31 + 7;
        return sum;
    }

    private static void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            String ask = new BufferedReader(new InputStreamReader(client.getInputStream())).readLine();
            if (ask == null)
                return;
            String score = SCORES.get().@{fnCamel}(ask);
            client.getOutputStream().write((score + " limit " + Math.abs(weigh(score) % 5000) + "\n").getBytes());
        } catch (IOException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        AtomicInteger number = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(@{pool}, task -> new Thread(task, "@{thread}-" + number.incrementAndGet()));
        try (ServerSocket door = new ServerSocket(@{port}, 200, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                Socket client = door.accept();
                pool.execute(() -> serve(client));
            }
        }
    }
}
