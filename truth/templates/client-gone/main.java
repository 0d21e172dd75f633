import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.*;

/** Hands out documents; each waits for its place in the round of the printer's queue. */
public class @{Class} {
    private static final ScheduledExecutorService ROUNDS = Executors.newScheduledThreadPool(1, r -> new Thread(r, "rounds"));

    static Future<byte[]> @{fnCamel}(String path) {
        double spread = ThreadLocalRandom.current().nextDouble(0.9, 1.2);
        return ROUNDS.schedule(() -> (path + "\n").repeat(@{bytes} / path.length() + 1).substring(0, @{bytes}).getBytes(StandardCharsets.US_ASCII),
                (long) (@{hold} * spread * 1000), TimeUnit.MICROSECONDS);
    }

    static void serve(Socket visitor) {
        try (visitor) {
            visitor.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(visitor.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = visitor.getOutputStream();
            for (String ask; (ask = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) ;
                byte[] document = @{fnCamel}(ask.split(" ")[1]).get();
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + document.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
                for (int at = 0; at < document.length; at += 8192) out.write(document, at, Math.min(8192, document.length - at));
            }
        } catch (IOException | NullPointerException e) {
            System.err.println("visitor: " + e.getMessage());
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService workers = Executors.newCachedThreadPool();
        try (ServerSocket server = new ServerSocket(@{port}, 128, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket visitor = server.accept();
                workers.submit(() -> serve(visitor));
            }
        }
    }
}
