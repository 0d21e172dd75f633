import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Takes the orders of a bell foundry: `bell 17 Gloria` in, the engraving's plan out. */
public class @{Class} {
    private final ExecutorService engraver = Executors.newSingleThreadExecutor(work -> new Thread(work, "engraver"));
    private final ExecutorService keeper = Executors.newSingleThreadExecutor(work -> new Thread(work, "keeper"));
    private final SocketChannel registry;
    private final ByteBuffer answer = ByteBuffer.allocate(256);
    private long next, end;

    @{Class}() throws IOException {
        registry = SocketChannel.open(UnixDomainSocketAddress.of("@{work}/@{desk}"));
    }

    /** Runs in the keeper's thread only. */
    private void @{fnCamel}() throws IOException {
        registry.write(ByteBuffer.wrap("numbers @{block}\n".getBytes(StandardCharsets.US_ASCII)));
        answer.clear();
        do {
            if (registry.read(answer) < 0)
                throw new IOException("the registry is closed");
        } while (answer.get(answer.position() - 1) != '\n');
        String[] range = new String(answer.array(), 0, answer.position(), StandardCharsets.US_ASCII).trim().split(" ");
        next = Long.parseLong(range[0]);
        end = Long.parseLong(range[1]);
    }

    private long number() {
        try {
            if (next >= end)
                @{fnCamel}();
            return next++;
        } catch (IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }

    /** Where each letter goes around the rim, in tenths of a degree. */
    private String engrave(int bell, String name) {
        long number = CompletableFuture.supplyAsync(this::number, keeper).join();
        String text = (name + " No " + number + " " + "MMXXVI ").repeat(12).substring(0, @{letters});
        double at = 0, width = 0;
        StringBuilder plan = new StringBuilder();
        for (char letter : text.toCharArray())
            width += 4 + letter % 5 + Math.sqrt(letter);
        for (char letter : text.toCharArray()) {
            plan.append(letter).append(Math.round(at)).append(',');
            at += 3600 * (4 + letter % 5 + Math.sqrt(letter)) / width;
        }
        return bell + " " + number + " " + Integer.toHexString(plan.toString().hashCode());
    }

    private void serve(Socket line) {
        try (line; BufferedReader in = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.UTF_8))) {
            line.setTcpNoDelay(true);
            for (String asked = in.readLine(); asked != null; asked = in.readLine()) {
                String[] words = asked.split(" ");
                String plan = CompletableFuture.supplyAsync(() -> engrave(Integer.parseInt(words[1]), words[2]), engraver).join();
                line.getOutputStream().write((plan + "\n").getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException error) {
            System.err.println("order: " + error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} foundry = new @{Class}();
        ServerSocket door = new ServerSocket(@{port}, 50, InetAddress.getByName("127.0.0.1"));
        while (true) {
            Socket line = door.accept();
            new Thread(() -> foundry.serve(line), "order").start();
        }
    }
}
