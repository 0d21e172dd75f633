import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.*;

/** The counter of a locksmith: "key 17" is answered with the cuts of the key of that lock. */
public class @{Class} {
    static final class Order {
        final int lock;
        final CompletableFuture<String> done = new CompletableFuture<>();

        Order(int lock) {
            this.lock = lock;
        }
    }

    /** Alone has the line to the maker's safe; the bench hands it a series and takes a code. */
    static final class Vault extends Thread {
        final SynchronousQueue<Integer> wanted = new SynchronousQueue<>();
        final SynchronousQueue<String> found = new SynchronousQueue<>();
        private final SocketChannel safe;
        private final ByteBuffer buffer = ByteBuffer.allocate(256);

        Vault() throws IOException {
            super("vault");
            safe = SocketChannel.open(StandardProtocolFamily.UNIX);
            safe.connect(UnixDomainSocketAddress.of(Path.of("@{work}/@{safe}")));
        }

        private String @{fnCamel}(int series) throws IOException {
            safe.write(ByteBuffer.wrap((series + "\n").getBytes(StandardCharsets.US_ASCII)));
            buffer.clear();
            do {
                if (safe.read(buffer) < 0)
                    throw new EOFException("the safe is shut");
            } while (buffer.get(buffer.position() - 1) != '\n');
            return new String(buffer.array(), 0, buffer.position() - 1, StandardCharsets.US_ASCII);
        }

        @Override
        public void run() {
            try {
                while (true)
                    found.put(@{fnCamel}(wanted.take()));
            } catch (IOException | InterruptedException error) {
                error.printStackTrace();
                System.exit(1);
            }
        }
    }

    static final class Bench extends Thread {
        final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
        private final Vault vault;

        Bench(Vault vault) {
            super("bench");
            this.vault = vault;
        }

        /** The blade as the cutter sees it: between two cuts it climbs by no more than the angle of the wheel. */
        private String cut(String code) {
            double[] blade = new double[code.length() * 40];
            for (int i = 0; i < blade.length; i++) {
                double height = 9;
                for (int pin = 0; pin < code.length(); pin++)
                    height = Math.min(height, 9 - (code.charAt(pin) - '0') * 0.6 + Math.abs(i - pin * 40 - 20) * 0.07);
                blade[i] = height;
            }
            double metal = 0;
            for (double height : blade)
                metal += 9 - height;
            return String.format("code %s cuts %d metal %.2f", code, code.length(), metal / 40);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    Order order = orders.take();
                    vault.wanted.put(order.lock % 997);
                    order.done.complete(cut(vault.found.take()));
                }
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }

    static void serve(Socket customer, Bench bench) {
        try (customer) {
            customer.setTcpNoDelay(true);
            var in = new BufferedReader(new InputStreamReader(customer.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = customer.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                Order order = new Order(Integer.parseInt(line.substring(line.indexOf(' ') + 1)));
                bench.orders.add(order);
                out.write((order.done.join() + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException | RuntimeException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] args) throws IOException {
        Vault vault = new Vault();
        Bench bench = new Bench(vault);
        vault.start();
        bench.start();
        try (ServerSocket door = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress())) {
            for (int n = 1; ; n++) {
                Socket customer = door.accept();
                new Thread(() -> serve(customer, bench), "counter-" + n).start();
            }
        }
    }
}
