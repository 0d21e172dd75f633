import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

/** Prints the catalogue's sheets as they are asked for, and checks the recordings meanwhile. */
public class @{Class} {
    static final int BLOCK = 128 << 10, CHECKERS = @{checkers};
    static final Path DISK = Path.of("@{work}/@{volume}");
    static final LongAdder checked = new LongAdder();

    static void @{fn2}(FileChannel tape, int part) {
        ByteBuffer block = ByteBuffer.allocateDirect(BLOCK + 4096).alignedSlice(4096).limit(BLOCK);
        try {
            long length = tape.size() / CHECKERS / BLOCK * BLOCK;
            for (long at = 0;; at = (at + BLOCK) % length) {
                block.clear().limit(BLOCK);
                checked.add(tape.read(block, part * length + at));
                if (@{pause_ms} > 0) Thread.sleep(@{pause_ms});
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException done) {
            Thread.currentThread().interrupt();
        }
    }

    static byte[] @{fnCamel}(int number) throws IOException {
        return Files.readAllBytes(DISK.resolve(String.format("@{doc}-%04d", number * 7 % @{count})));
    }

    static long print(byte[] sheet) {
        CRC32 mark = new CRC32();
        for (int round = 0; round < @{rounds} * 4; round++) mark.update(sheet);
        return mark.getValue();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        // The sheets shall stay in the cache, not the recordings.
        FileChannel tape = FileChannel.open(DISK.resolve("@{tape}"), StandardOpenOption.READ, ExtendedOpenOption.DIRECT);
        for (int number = 0; number < CHECKERS; number++) {
            int part = number;
            Thread checker = new Thread(() -> @{fn2}(tape, part), "check-" + part);
            checker.setDaemon(true);
            checker.start();
        }
        int units = 0;
        long busy = 0, reading = 0, printed = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            byte[] sheet = @{fnCamel}(units);
            reading += System.nanoTime() - start;
            printed ^= print(sheet);
            units++;
            busy += System.nanoTime() - start;
            long rest = began + units * 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        System.err.println(printed + " " + checked);
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, reading / 1e9);
        Files.writeString(Path.of("@{report}"), report);
        System.exit(0);
    }
}
