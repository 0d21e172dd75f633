import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Plans the rounds of a nursing service, by the minutes that a map service tells. */
public class @{Class} {
    /** A connection to the map service. */
    static class Link {
        final Socket socket = new Socket(InetAddress.getLoopbackAddress(), @{maps});
        final BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));

        Link() throws IOException {
            socket.setTcpNoDelay(true);
        }

        String ask(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            return answers.readLine();
        }
    }

    final BlockingQueue<Link> links = new ArrayBlockingQueue<>(@{pool});

    @{Class}() throws IOException {
        for (int i = 0; i < @{pool}; i++) links.add(new Link());
    }

    int[] @{fnCamel}(long number) throws IOException, InterruptedException {
        Link link = links.take();
        try {
            return Arrays.stream(link.ask("minutes " + number).split(" ")).mapToInt(Integer::parseInt).toArray();
        } finally {
            links.put(link);
        }
    }

    static String order(int[] minutes) {
        TreeSet<Integer> left = new TreeSet<>();
        for (int i = 0; i < minutes.length; i++) left.add(i);
        StringBuilder text = new StringBuilder();
        int here = 0, total = 0;
        while (!left.isEmpty()) {
            int best = left.first();
            for (int stop : left) {
                if (Math.abs(minutes[stop] - minutes[here]) < Math.abs(minutes[best] - minutes[here])) best = stop;
            }
            total += Math.abs(minutes[best] - minutes[here]) + 2;
            left.remove(best);
            text.append(' ').append(best);
            here = best;
        }
        return total + text.toString();
    }

    void talk(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                String answer = words.length == 2 ? words[1] + " " + order(@{fnCamel}(Long.parseLong(words[1]))) : "error: tour NUMBER";
                socket.getOutputStream().write((answer + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException gone) {
            // The nurse has gone.
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws IOException {
        @{Class} app = new @{Class}();
        ExecutorService nurses = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = door.accept();
                nurses.execute(() -> app.talk(socket));
            }
        }
    }
}
