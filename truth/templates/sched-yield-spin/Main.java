import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;

/** Takes measurements and packs them: a ring between the two. */
public class @{Class} {
    private static final int SLOTS = @{slots};
    private final AtomicReferenceArray<byte[]> ring = new AtomicReferenceArray<>(SLOTS);
    private final AtomicLong head = new AtomicLong();
    private volatile Thread consumer;
    private volatile boolean over;
    private long tail, units, sum;
    private double busy, culprit;

    private byte[] @{fnCamel}() {
        int slot = (int) (tail % SLOTS);
        long start = System.nanoTime();
        for (int round = 0; round < @{rounds} && ring.get(slot) == null && !over; round++)
            Thread.yield();
        double took = (System.nanoTime() - start) / 1e9;
        culprit += took;
        busy += took;
        while (ring.get(slot) == null && !over)
            LockSupport.park();
        tail++;
        return ring.getAndSet(slot, null);
    }

    private void pack() {
        consumer = Thread.currentThread();
        byte[] record;
        while ((record = @{fnCamel}()) != null) {
            long start = System.nanoTime();
            CRC32 check = new CRC32();
            while (System.nanoTime() - start < @{effort} * 1e6)
                check.update(record);
            sum += check.getValue();
            units++;
            busy += (System.nanoTime() - start) / 1e9;
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} line = new @{Class}();
        Thread packer = new Thread(line::pack, "@{thread}");
        packer.start();
        long began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            Thread.sleep((long) Math.max(1, @{gap} * ThreadLocalRandom.current().nextDouble(0.5, 1.5)));
            int slot = (int) (line.head.get() % SLOTS);
            if (line.ring.get(slot) != null)
                continue;
            line.ring.set(slot, new byte[256]);
            line.head.incrementAndGet();
            LockSupport.unpark(packer);
        }
        line.over = true;
        LockSupport.unpark(packer);
        packer.join();
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", line.units, line.busy, line.culprit));
    }
}
