import java.io.IOException;
import java.nio.*;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.Locale;
import java.util.concurrent.*;

/** Stores the sweeps of a survey flight: heights first, then all echoes into segments. */
public class @{Class} implements AutoCloseable {
    record Sweep(long number, float[][] echoes) {}

    static final int RETURNS = @{returns};
    private final ByteBuffer block = ByteBuffer.allocateDirect(1 << 17).order(ByteOrder.LITTLE_ENDIAN);
    private FileChannel segment;
    private long held;

    static Sweep receive(long number) {
        float[][] echoes = new float[@{echoes}][RETURNS * 4];
        int state = (int) number * 7919 + 1;
        for (int echo = 0; echo < echoes.length; echo++)
            for (int at = 0; at < RETURNS; at++) {
                state = state * 1664525 + 1013904223;
                float far = 10 + (state >>> 22) * 0.05f, angle = at * 0.0003f;
                echoes[echo][4 * at] = far * angle;
                echoes[echo][4 * at + 1] = far * (1 - angle * angle / 2);
                echoes[echo][4 * at + 2] = echo * 0.7f;
                echoes[echo][4 * at + 3] = state >>> 24;
            }
        return new Sweep(number, echoes);
    }

    static void level(Sweep sweep) {
        for (float[] echo : sweep.echoes()) {
            float ground = 0;
            for (int at = 0; at < RETURNS; at++) {
                ground = 0.98f * ground + 0.02f * (echo[4 * at + 2] - echo[4 * at + 3] * 0.001f);
                echo[4 * at + 2] -= ground;
            }
        }
    }

    private void put() throws IOException {
        block.flip();
        while (block.hasRemaining()) segment.write(block);
        block.clear();
    }

    long @{fnCamel}(Sweep sweep) throws IOException {
        if (held % @{per_segment} == 0) {
            close();
            Path path = Path.of("@{work}/@{volume}", held / @{per_segment} % 6 + "-@{segment}");
            segment = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        }
        held++;
        long stored = 0;
        block.put(("SWEEP " + sweep.number() + "\n").getBytes(StandardCharsets.US_ASCII));
        for (int echo = 0; echo < @{stored}; echo++)
            for (int at = 0; at < RETURNS; at += @{thin}) {
                if (block.remaining() < 16) put();
                for (int part = 0; part < 4; part++) block.putFloat(sweep.echoes()[echo][4 * at + part]);
                stored++;
            }
        put();
        return stored;
    }

    @Override
    public void close() throws IOException {
        if (segment != null) segment.close();
    }

    static double since(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService keeper = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "keeper");
            thread.setDaemon(true);
            return thread;
        });
        long began = System.nanoTime(), units = 0;
        double busy = 0, storing = 0;
        try (@{Class} store = new @{Class}()) {
            while (since(began) < @{seconds}) {
                long start = System.nanoTime();
                Sweep sweep = receive(units);
                level(sweep);
                storing += keeper.submit(() -> {
                    long asked = System.nanoTime();
                    store.@{fnCamel}(sweep);
                    return since(asked);
                }).get();
                units++;
                busy += since(start);
                double rest = units / (double) @{rate} - since(began);
                if (rest > 0) Thread.sleep((long) (rest * 1000));
            }
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, storing));
    }
}
