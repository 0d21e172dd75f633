import java.io.*;
import java.net.*;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Pushes firmware to a depot's chargers: whichever is next in the plan gets the image of its model. */
public class @{Class} {
    record Charger(int id, int model, int version) {}

    private final SocketChannel line;
    private final BufferedReader answers;
    private long sending;

    @{Class}() throws IOException {
        line = SocketChannel.open(new InetSocketAddress("127.0.0.1", @{port}));
        line.setOption(StandardSocketOptions.TCP_NODELAY, true);
        answers = new BufferedReader(new InputStreamReader(line.socket().getInputStream(), StandardCharsets.US_ASCII));
    }

    private void seal(ByteBuffer part) {
        for (int at = 0; at < part.limit(); at++)
            part.put(at, (byte) (part.get(at) ^ at * 167 ^ 0x5a));
    }

    long @{fn}(FileChannel image) throws IOException {
        long total = 0, size = image.size();
        if ("@{way}".equals("send")) {
            while (total < size)
                total += image.transferTo(total, size - total, line);
            return total;
        }
        ByteBuffer part = ByteBuffer.allocateDirect(@{piece});
        while (image.read(part) > 0) {
            part.flip();
            if ("@{way}".equals("seal"))
                seal(part);
            while (part.hasRemaining())
                total += line.write(part);
            part.clear();
        }
        return total;
    }

    boolean flash(Charger charger) throws IOException {
        Path place = Path.of("@{work}/@{shelf}", "model-" + charger.model() + ".@{ending}");
        try (FileChannel image = FileChannel.open(place, StandardOpenOption.READ)) {
            String head = "flash " + charger.id() + " " + charger.version() + " " + image.size() + "\n";
            line.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
            long start = System.nanoTime();
            long sent = @{fn}(image);
            sending += System.nanoTime() - start;
            return "flashed".equals(answers.readLine()) && sent == image.size();
        }
    }

    public static void main(String[] arguments) throws Exception {
        PriorityQueue<Charger> plan = new PriorityQueue<>(Comparator.comparingInt(Charger::version).thenComparingInt(Charger::id));
        for (int n = 0; n < 90; n++)
            plan.add(new Charger(4000 + n * 7, n * 5 % (@{last} + 1), 3 + n % 4));
        @{Class} push = new @{Class}();
        long began = System.nanoTime(), busy = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            Charger next = plan.remove();
            boolean done = push.flash(next);
            plan.add(new Charger(next.id(), next.model(), next.version() + (done ? 1 : 0)));
            units++;
            busy += System.nanoTime() - start;
            Thread.sleep(Math.max(0, (long) (1000 / @{rate} - (System.nanoTime() - start) / 1e6)));
        }
        Files.writeString(Path.of("@{report}"),
            "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + push.sending / 1e9 + "}");
    }
}
