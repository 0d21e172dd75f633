import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/** Writes statements: the bookings of an account are fetched in the order of their dates, which is not that of the file. */
public class @{Class} {
    static final int SLOT = @{slot_kb} * 1024, ROW = 4096, ROWS = @{rows};
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), reading = new AtomicLong();

    final FileChannel file;
    final CRC32 crc = new CRC32();
    final ByteBuffer row = ByteBuffer.allocateDirect(ROW), block = ByteBuffer.allocateDirect("@{mode}".equals("merge") ? 1 << 18 : 1 << 20);

    @{Class}(FileChannel file) {
        this.file = file;
    }

    ByteBuffer @{fnCamel}(long number) throws IOException {
        row.clear();
        file.read(row, number * SLOT);
        return row.flip();
    }

    int block(long at, int most) throws IOException {
        block.clear().limit(Math.min(most, block.capacity()));
        int n = file.read(block, at);
        block.flip();
        return n;
    }

    void print(ByteBuffer row) {
        for (int round = 0; round < @{rounds} * 20; round++) crc.update(row.duplicate());
    }

    void byIndex(long first, List<Integer> dates) throws IOException {
        for (int number : dates) {
            long start = System.nanoTime();
            ByteBuffer found = @{fnCamel}(first + number);
            reading.addAndGet(System.nanoTime() - start);
            print(found);
        }
    }

    void byPlace(long first, List<Integer> dates) throws IOException {
        long start = System.nanoTime();
        byte[] rows = new byte[ROWS * ROW];
        int slots = block.capacity() / SLOT;
        for (int number = 0; number < ROWS; number += slots) {
            int n = block((first + number) * SLOT, (Math.min(slots, ROWS - number)) * SLOT);
            for (int i = 0; i * SLOT + ROW <= n; i++) block.get(i * SLOT, rows, (number + i) * ROW, ROW);
        }
        reading.addAndGet(System.nanoTime() - start);
        for (int number : dates) print(ByteBuffer.wrap(rows, number * ROW, ROW));
    }

    void merge(long unit, long size) throws IOException {
        long start = System.nanoTime();
        for (int run = 0; run < 4; run++) {
            if (block((size / 4 * run + unit * block.capacity()) & ~4095L, block.capacity()) > ROW) print(block.limit(ROW));
        }
        reading.addAndGet(System.nanoTime() - start);
    }

    void work(int worker, long began) {
        Random random = new Random(worker);
        List<Integer> dates = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) dates.add(i);
        try {
            long size = file.size(), accounts = size / SLOT / ROWS, due = began, period = (long) (1e9 * @{workers} / @{per_s});
            for (long unit = worker; System.nanoTime() - began < @{seconds} * 1e9; unit += @{workers}) {
                Collections.shuffle(dates, random);
                long start = System.nanoTime();
                switch ("@{mode}") {
                    case "index": byIndex(unit % accounts * ROWS, dates); break;
                    case "sorted": byPlace(unit % accounts * ROWS, dates); break;
                    default: merge(unit, size);
                }
                units.incrementAndGet();
                busy.addAndGet(System.nanoTime() - start);
                due = Math.max(due + period, System.nanoTime());
                Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
            }
        } catch (IOException | InterruptedException error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] args) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of("@{work}/@{volume}/@{data}"))) {
            Thread[] workers = new Thread[@{workers}];
            long began = System.nanoTime();
            for (int i = 0; i < workers.length; i++) {
                int worker = i;
                (workers[i] = new Thread(() -> new @{Class}(file).work(worker, began), "statements-" + i)).start();
            }
            for (Thread worker : workers) worker.join();
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.get(), busy.get() / 1e9, reading.get() / 1e9));
    }
}
