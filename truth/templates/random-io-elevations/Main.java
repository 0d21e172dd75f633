import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** Profiles of routes: how high each of their points is, and how much there is to climb. */
public class @{Class} {
    static final int CELL = 4096, POINTS = @{points};
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong();

    record Raster(FileChannel file, long cells) {
        ByteBuffer @{fnCamel}(long cell, ByteBuffer room) throws IOException {
            for (long at = cell * CELL; room.hasRemaining();) {
                int got = file.read(room, at);
                if (got < 0) {
                    throw new IOException("the raster ends at " + at);
                }
                at += got;
            }
            return room.flip();
        }

        double[] heights(long route, ByteBuffer room) throws IOException {
            double[] heights = new double[POINTS];
            if ("@{order}".equals("travelled")) {
                for (int point = 0; point < POINTS; point++) {
                    long at = (route * 7919 + point * 104_729L + 31) * 0x9e3779b97f4a7c15L >>> 20;
                    @{fnCamel}(at % cells, room.clear().limit(CELL));
                    heights[point] = height(room, 0);
                }
            } else {
                @{fnCamel}((route * 0x9e3779b97f4a7c15L >>> 20) % (cells - POINTS), room.clear());
                for (int point = 0; point < POINTS; point++) {
                    heights[point] = height(room, point * CELL);
                }
            }
            return heights;
        }
    }

    /** The height is the middle of what a cell says, after it was smoothed. */
    static double height(ByteBuffer room, int from) {
        double[] sums = new double[CELL / 8];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = (room.get(from + i * 8) & 255) + (room.get(from + i * 8 + 7) & 255) / 256.0;
        }
        for (int round = 0; round < @{smooth}; round++) {
            for (int i = 1; i < sums.length; i++) {
                sums[i] = sums[i] * 0.75 + sums[i - 1] * 0.25;
            }
        }
        return sums[sums.length / 2];
    }

    static void plan(Raster raster, int leg) {
        ByteBuffer room = ByteBuffer.allocateDirect(POINTS * CELL);
        double highest = 0;
        try {
            long began = System.nanoTime();
            for (long done = 1; (System.nanoTime() - began) / 1e9 < @{seconds}; done++) {
                long start = System.nanoTime();
                double[] heights = raster.heights(done * @{legs} + leg, room);
                double climb = 0;
                for (int i = 1; i < POINTS; i++) {
                    climb += Math.max(0, heights[i] - heights[i - 1]);
                }
                highest = Math.max(highest, climb);
                units.incrementAndGet();
                busy.addAndGet(System.nanoTime() - start);
                double rest = done / (double) @{rate} - (System.nanoTime() - began) / 1e9;
                if (rest > 0) {
                    Thread.sleep((long) (rest * 1000));
                }
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
        System.out.printf("leg %d: %.1f at most%n", leg, highest);
    }

    public static void main(String[] arguments) throws Exception {
        FileChannel file = FileChannel.open(Path.of("@{work}/@{volume}/@{raster}"));
        Raster raster = new Raster(file, file.size() / CELL);
        Thread[] legs = new Thread[@{legs}];
        for (int i = 0; i < legs.length; i++) {
            int leg = i;
            legs[i] = new Thread(() -> plan(raster, leg), "planner-" + leg);
            legs[i].start();
        }
        for (Thread leg : legs) {
            leg.join();
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", units.get(), busy.get() / 1e9));
    }
}
