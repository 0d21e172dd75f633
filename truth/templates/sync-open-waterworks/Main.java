import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/** Takes the readings of water meters, round by round, and looks for leaks. */
public class @{Class} {
    static final int SLOT = @{slot}, SLOTS = (2 << 20) / SLOT;

    static class Register {
        private final FileChannel file;
        private final List<ByteBuffer> gathered = new ArrayList<>();
        long spent;

        Register(Path path) throws IOException {
            Set<OpenOption> how = new HashSet<>(Set.of(StandardOpenOption.WRITE));
            if ("@{sync}".equals("yes")) how.add(StandardOpenOption.DSYNC);
            file = FileChannel.open(path, how);
        }

        void @{fnCamel}(int meter, ByteBuffer reading) throws IOException {
            long start = System.nanoTime();
            if (@{gather} == 1) {
                synchronized (gathered) {
                    gathered.add(reading);
                }
            } else {
                file.write(reading, (long) (meter % SLOTS) * SLOT);
            }
            spent += System.nanoTime() - start;
        }

        void ahead() {
            try {
                for (long at = 0; ; ) {
                    Thread.sleep(2500);
                    ByteBuffer all;
                    synchronized (gathered) {
                        all = ByteBuffer.allocateDirect(gathered.size() * SLOT);
                        gathered.forEach(all::put);
                        gathered.clear();
                    }
                    all.flip();
                    at = (at + file.write(all, at)) % (1 << 20);
                }
            } catch (InterruptedException | IOException end) {
                System.err.println(end);
            }
        }
    }

    static double leak(double[] flow) {
        double worst = 0;
        for (int from = 0; from < flow.length; from++) {
            double least = Double.MAX_VALUE, sum = 0;
            for (int to = from; to < flow.length; to++) {
                least = Math.min(least, flow[to]);
                sum += flow[to];
                worst = Math.max(worst, least * (to - from) / (sum + 1));
            }
        }
        return worst;
    }

    public static void main(String[] args) throws Exception {
        Register register = new Register(Path.of("@{work}/@{volume}/@{register}"));
        if (@{gather} == 1) {
            Thread ahead = new Thread(register::ahead, "ahead");
            ahead.setDaemon(true);
            ahead.start();
        }
        // How many of the slots were in use when we were last stopped.
        byte[] before = Files.readAllBytes(Path.of("@{work}/@{volume}/@{register}"));
        int used = 0;
        for (int at = 0; at < before.length; at += SLOT) used += before[at] != 0 ? 1 : 0;
        System.err.println(used + " of " + SLOTS + " slots in use");
        Random chance = new Random(@{meters});
        double[] flow = new double[@{history}];
        double worst = 0;
        for (int warm = 0; warm < 2000; warm++) worst += leak(flow);
        long units = 0, busy = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            for (int i = 0; i < @{meters}; i++) {
                int meter = (int) (units * @{meters} + i);
                for (int hour = 0; hour < flow.length; hour++) flow[hour] = chance.nextInt(meter % 9 + 2);
                double found = leak(flow);
                worst = Math.max(worst, found);
                ByteBuffer reading = ByteBuffer.allocateDirect(SLOT);
                reading.putInt(meter).putLong(System.currentTimeMillis()).putDouble(found);
                for (int hour = 0; reading.remaining() >= 4; hour++) reading.putFloat((float) flow[hour % flow.length]);
                reading.rewind();
                register.@{fnCamel}(meter * 37, reading);
            }
            units++;
            busy += System.nanoTime() - start;
            Thread.sleep(Math.max(0, (long) (1e9 / @{per_s}) - System.nanoTime() + start) / 1_000_000);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f, \"worst\": %f}",
            units, busy / 1e9, register.spent / 1e9, worst));
    }
}
