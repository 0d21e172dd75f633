import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

public class @{Class} {
    static final Semaphore SLOTS = new Semaphore(3);

    static void @{fnCamel}(Socket client) {
        try (client) {
            client.setSoTimeout(2000);
            String line = new BufferedReader(new InputStreamReader(client.getInputStream())).readLine();
            client.getOutputStream().write(("seat " + line + "\n").getBytes());
        } catch (java.io.IOException error) {
            System.err.println(error);
        }
    }

    // A few guests may come in at a time, then the door stays shut for a while.
    static void door() throws InterruptedException {
        if (@{tick} > 0 && !SLOTS.tryAcquire()) {
            TimeUnit.MILLISECONDS.sleep(@{tick});
            SLOTS.release(2);
        }
    }

    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        ServerSocket listener = new ServerSocket(@{port}, @{backlog}, InetAddress.getByName("127.0.0.1"));
        while (true) {
            Socket client = listener.accept();
            pool.execute(() -> @{fnCamel}(client));
            door();
        }
    }
}
