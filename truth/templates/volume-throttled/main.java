import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Takes uploads in; each is safe on the disk when it is confirmed. */
public class @{Class} {
    record Upload(int slot, ByteBuffer body, long came) {}

    static final BlockingQueue<Upload> queue = new LinkedBlockingQueue<>();
    static final int SIZE = @{kb} * 1000;
    static volatile boolean over;
    static long units, busy, writing;

    static void @{fnCamel}(Upload upload) throws Exception {
        Path path = Path.of("@{work}/@{upload}." + upload.slot);
        try (FileChannel out = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            upload.body.rewind();
            while (upload.body.hasRemaining()) out.write(upload.body);
            out.force(false);
        }
    }

    static void keeper() {
        try {
            while (true) {
                Upload upload = queue.take();
                if (upload.body == null) return;
                long start = System.nanoTime();
                @{fnCamel}(upload);
                long took = System.nanoTime() - start;
                synchronized (queue) {
                    units++;
                    busy += took;
                    writing += took;
                }
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] words) throws Exception {
        Files.writeString(Path.of("/sys/fs/cgroup/blkio/@{slice}/cgroup.procs"), ProcessHandle.current().pid() + "\n");
        Thread[] keepers = new Thread[@{threads}];
        for (int i = 0; i < keepers.length; i++) (keepers[i] = new Thread(@{Class}::keeper, "keeper-" + i)).start();
        ByteBuffer body = ByteBuffer.allocateDirect(SIZE);
        for (int i = 0; i < SIZE; i++) body.put(i, (byte) (i * 31));
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        for (int number = 0; System.nanoTime() < end; number++) {
            // A desk with few chairs: who comes while they are taken waits outside.
            if (queue.size() < 2) queue.add(new Upload(number % 8, body.duplicate(), System.nanoTime()));
            Thread.sleep((long) (1000 / @{per_s}) + 1);
        }
        queue.clear();
        for (Thread keeper : keepers) queue.add(new Upload(0, null, 0));
        for (Thread keeper : keepers) keeper.join();
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + writing / 1e9 + "}");
    }
}
