import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Answers what the weather is at a place: reads the cell's samples, and marks when the cell was of use. */
public class @{Class} {
    private long marking;

    double sample(int cell, int turn) throws IOException {
        byte[] row = new byte[4 * @{samples}];
        try (RandomAccessFile grid = new RandomAccessFile("@{work}/run/@{grids}/cell" + cell + ".grid", "r")) {
            grid.seek(turn % 7 * 512L);
            grid.readFully(row);
        }
        ByteBuffer values = ByteBuffer.wrap(row).order(ByteOrder.LITTLE_ENDIAN);
        double mean = 0;
        while (values.hasRemaining())
            mean += (Integer.toUnsignedLong(values.getInt()) % 6000 / 100.0 - 20) / @{samples};
        return mean;
    }

    void @{fn}(int cell, double mean) throws IOException {
        long start = System.nanoTime();
        try (RandomAccessFile grid = new RandomAccessFile("@{work}/@{marks}/cell" + cell + ".grid", "rw")) {
            ByteBuffer head = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
            head.putLong(System.currentTimeMillis() / 1000).putDouble(mean);
            grid.write(head.array());
        }
        marking += System.nanoTime() - start;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} service = new @{Class}();
        long began = System.nanoTime(), busy = 0;
        int turn = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            int cell = turn % @{cells};
            service.@{fn}(cell, service.sample(cell, turn));
            turn++;
            long took = System.nanoTime() - start;
            busy += took;
            Thread.sleep(Math.max(0, (long) (1000 / @{rate} - took / 1e6)));
        }
        Files.writeString(Path.of("@{report}"),
            "{\"units\": " + turn + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + service.marking / 1e9 + "}");
    }
}
