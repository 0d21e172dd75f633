import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Switches a town's street lamps by radio: the nearer mast is asked first, and the farther one if that does not come. */
public class @{Class} {
    static class Mast {
        final InetSocketAddress address;
        Socket line;
        BufferedReader answers;
        long lost;

        Mast(int port) {
            address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        }

        boolean @{fnCamel}(int tries) throws IOException {
            long start = System.nanoTime();
            for (int i = 0; i < tries && line == null; i++) {
                Socket socket = new Socket();
                try {
                    socket.connect(address, 2000);
                    socket.setTcpNoDelay(true);
                    answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                    line = socket;
                } catch (ConnectException nobody) {
                    socket.close();
                }
            }
            lost += System.nanoTime() - start;
            return line != null;
        }

        boolean send(String text) throws IOException {
            line.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            return "sent".equals(answers.readLine());
        }
    }

    public static void main(String[] words) throws Exception {
        Mast near = new Mast(@{first}), far = new Mast(@{second});
        long units = 0, good = 0, busy = 0, end = System.nanoTime() + (long) (@{seconds} * 1e9);
        for (long start; (start = System.nanoTime()) < end; ) {
            StringBuilder text = new StringBuilder("evening");
            for (int lamp = 0; lamp < @{sirens}; lamp++) text.append(",lamp-").append((units + lamp) % 400);
            Mast mast = near.@{fnCamel}(@{most}) ? near : far;
            if (mast == far && !far.@{fnCamel}(@{most})) throw new IOException("no mast at all");
            if (mast.send(text.append('\n').toString())) good++;
            units++;
            long took = System.nanoTime() - start;
            busy += took;
            long rest = (long) (1e9 / @{per_s}) - took;
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + near.lost / 1e9 + ", \"good\": " + good + "}");
    }
}
