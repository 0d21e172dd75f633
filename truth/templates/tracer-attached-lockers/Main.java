import java.io.IOException;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;

/** Gives a locker of the swimming bath to each guest. */
public class @{Class} {
    private static final int BLOCK = 4096;
    private final FileChannel index;
    private final Writer journal;
    private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
    private final int blocks;

    @{Class}(Path index, Path journal) throws IOException {
        this.index = FileChannel.open(index);
        this.journal = Files.newBufferedWriter(journal);
        blocks = (int) (this.index.size() / BLOCK);
    }

    private int fit(int size) {
        int best = 0, least = 256;
        for (int turn = 0; turn < @{effort}; turn++)
            for (int i = 0; i < BLOCK; i++) {
                int over = (block.get(i) & 0xff) - (size + turn & 0xff);
                if (over >= 0 && over < least) {
                    least = over;
                    best = i;
                }
            }
        return best;
    }

    int @{fnCamel}(int guest) throws IOException {
        Random chance = new Random(guest);
        int sum = 0;
        for (int look = 0; look < @{reads}; look++) {
            int place = chance.nextInt(blocks);
            block.clear();
            if (index.read(block, (long) place * BLOCK) != BLOCK)
                throw new IOException("the index is too short");
            sum += fit(40 + guest * 13 % 150);
        }
        return sum % 1000;
    }

    void take(int guest) throws IOException {
        int locker = @{fnCamel}(guest);
        journal.write("guest " + guest + " has " + locker + "\n");
        if (guest % 20 == 0)
            journal.flush();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} bath = new @{Class}(Path.of("@{work}/@{index}"), Path.of("@{work}/@{journal}"));
        // Not the first guest of the day.
        for (int guest = 0; guest < 100; guest++)
            bath.take(guest);
        Path written = Files.writeString(Path.of("@{work}/lockers.tmp"), Long.toString(ProcessHandle.current().pid()));
        Files.move(written, Path.of("@{work}/lockers.pid"), StandardCopyOption.ATOMIC_MOVE);
        ArrayBlockingQueue<Integer> guests = new ArrayBlockingQueue<>(1);
        Thread door = new Thread(() -> {
            try {
                long due = System.nanoTime();
                for (int guest = 0; ; guest++) {
                    due = Math.max(due + (long) (1e9 / @{rate}), System.nanoTime());
                    Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
                    guests.put(guest);
                }
            } catch (InterruptedException over) {
                // The end.
            }
        }, "door");
        door.setDaemon(true);
        door.start();
        long units = 0, busy = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            int guest = guests.take();
            long start = System.nanoTime();
            bath.take(guest);
            busy += System.nanoTime() - start;
            units++;
        }
        bath.journal.close();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", units, busy / 1e9));
    }
}
