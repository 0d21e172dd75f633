import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/** A reading room: a reader asks for a passage, the register says where, and the folios around it are shown. */
public class @{Class} {
    private static final int FOLIO = @{kb} << 10, ENTRY = 4096;

    private final FileChannel register, folios;
    private final long entries, count;
    private final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), read = new AtomicLong();
    private final ThreadLocal<ByteBuffer> page = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(FOLIO));

    @{Class}(Path register, Path folios) throws IOException {
        this.register = FileChannel.open(register);
        this.folios = FileChannel.open(folios);
        entries = this.register.size() / ENTRY;
        count = this.folios.size() / FOLIO;
    }

    private void warm(FileChannel channel) throws IOException {
        ByteBuffer part = ByteBuffer.allocateDirect(1 << 20);
        while (channel.read(part) > 0) {
            part.clear();
        }
    }

    private ByteBuffer folio(long number) throws IOException {
        ByteBuffer buffer = page.get().clear();
        folios.read(buffer, number % count * FOLIO);
        return buffer.flip();
    }

    private long where(long entry) throws IOException {
        ByteBuffer buffer = page.get().clear().limit(ENTRY);
        register.read(buffer, entry * ENTRY);
        return buffer.order(ByteOrder.LITTLE_ENDIAN).getLong((int) (entry % 500) * 8) >>> 1;
    }

    private long @{fnCamel}(long entry, CRC32 sum) throws IOException {
        long start = System.nanoTime();
        long at = where(entry);
        long took = System.nanoTime() - start;
        for (int i = 0; i < @{around}; i++) {
            start = System.nanoTime();
            ByteBuffer folio = folio(at + i * 7919L);
            took += System.nanoTime() - start;
            compare(folio, sum);
        }
        return took;
    }

    private void compare(ByteBuffer folio, CRC32 sum) {
        for (int i = 0; i < @{rounds}; i++) {
            sum.update(folio.duplicate().limit(4096));
        }
    }

    private void serve(long turn) {
        long start = System.nanoTime(), took = 0;
        CRC32 sum = new CRC32();
        try {
            if ("@{way}".equals("check")) {
                for (int i = 0; i < @{around}; i++) {
                    compare(folio(turn * @{around} + i), sum);
                }
            } else {
                took = @{fnCamel}(ThreadLocalRandom.current().nextLong(entries), sum);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        read.addAndGet(took);
        busy.addAndGet(System.nanoTime() - start);
        units.incrementAndGet();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} room = new @{Class}(Path.of("@{work}/@{register}"), Path.of("@{work}/@{folios}"));
        Files.writeString(Path.of("/sys/fs/cgroup/memory/@{slice}/cgroup.procs"), Long.toString(ProcessHandle.current().pid()));
        if (!"@{way}".equals("check")) {
            room.warm(room.register);
            room.warm(room.folios);
        }
        ExecutorService readers = Executors.newFixedThreadPool(@{readers});
        Semaphore seats = new Semaphore(@{readers});
        long end = System.nanoTime() + (long) (@{seconds} * 1e9), due = System.nanoTime();
        for (long turn = 0; System.nanoTime() < end; turn++) {
            long number = turn;
            seats.acquire();
            readers.execute(() -> {
                room.serve(number);
                seats.release();
            });
            due = Math.max(due + (long) (1e9 / @{per_s}), System.nanoTime());
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
        }
        readers.shutdown();
        readers.awaitTermination(10, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", room.units.get(), room.busy.get() / 1e9, room.read.get() / 1e9));
    }
}
