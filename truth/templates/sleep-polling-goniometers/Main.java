import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Turns a crystal by steps, counts at each, and looks where the reflex is. */
public class @{Class} implements AutoCloseable {
    private final SocketChannel motors;
    private final ByteBuffer input = ByteBuffer.allocate(512);
    private long waited;
    private static volatile int lamp;

    @{Class}(Path path) throws IOException {
        motors = SocketChannel.open(StandardProtocolFamily.UNIX);
        motors.connect(UnixDomainSocketAddress.of(path));
        motors.configureBlocking(!"@{way}".equals("look"));
    }

    private String @{fnCamel}() throws IOException, InterruptedException {
        input.clear();
        while (true) {
            int n = motors.read(input);
            if (n < 0) {
                throw new IOException("the motors are gone");
            }
            if (n == 0) {
                Thread.sleep(@{period});
            } else if (input.get(input.position() - 1) == '\n') {
                return StandardCharsets.US_ASCII.decode(input.flip()).toString().trim();
            }
        }
    }

    private double ask(String command) throws IOException, InterruptedException {
        long start = System.nanoTime();
        motors.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.US_ASCII)));
        String answer = @{fnCamel}();
        waited += System.nanoTime() - start;
        return Double.parseDouble(answer.substring(answer.indexOf(' ') + 1));
    }

    /** The middle of the peak that lies best below the counts. */
    private static double fit(double angle, double counts) {
        double best = Double.MAX_VALUE, where = angle;
        for (int i = 0; i < @{points} * 14; i++) {
            double middle = angle + (i - @{points} * 7) / 1e4, sum = 0;
            for (int k = -12; k <= 12; k++) {
                double expected = counts * Math.exp(-k * k / 18.0);
                double seen = counts * Math.exp(-Math.pow(k + (middle - angle) * 40, 2) / 18.0);
                sum += (expected - seen) * (expected - seen);
            }
            if (sum < best) {
                best = sum;
                where = middle;
            }
        }
        return where;
    }

    @Override
    public void close() throws IOException {
        motors.close();
    }

    private static void blink() {
        try {
            while (true) {
                Thread.sleep(@{beat});
                lamp ^= 1;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (@{lamp} == 1) {
            Thread thread = new Thread(@{Class}::blink, "lamp");
            thread.setDaemon(true);
            thread.start();
        }
        try (@{Class} control = new @{Class}(Path.of("@{work}/@{sock}"))) {
            long began = System.nanoTime(), busy = 0;
            int units = 0;
            double sum = 0;
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                double at = control.ask(String.format(Locale.ROOT, "MOVE theta %.3f", units * 0.05 % 90));
                sum += fit(at, control.ask("COUNT 0"));
                units++;
                busy += System.nanoTime() - start;
                long rest = (began + (long) (units * 1e9 / @{rate}) - System.nanoTime()) / 1_000_000;
                if (rest > 0) {
                    Thread.sleep(rest);
                }
            }
            System.out.println(sum);
            Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, control.waited / 1e9));
        }
    }
}
