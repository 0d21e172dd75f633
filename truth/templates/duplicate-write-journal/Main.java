import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32;

/** Appends the changes of a table to its change log. */
public class @{Class} {
    /** Writes to both of two streams. */
    static class TeeOutputStream extends OutputStream {
        final OutputStream first, second;
        long spent;

        TeeOutputStream(OutputStream first, OutputStream second) {
            this.first = first;
            this.second = second;
        }

        @Override public void write(int b) throws IOException { write(new byte[] {(byte) b}, 0, 1); }

        @Override public void write(byte[] bytes, int from, int count) throws IOException {
            first.write(bytes, from, count);
            long start = System.nanoTime();
            second.write(bytes, from, count);
            spent += System.nanoTime() - start;
        }

        @Override public void close() throws IOException {
            first.close();
            second.close();
        }
    }

    record Change(long row, byte[] text) {}

    final CRC32 crc = new CRC32();
    final ByteBuffer record = ByteBuffer.allocate(@{width} + 64);
    OutputStream log;
    long size, spent, number;
    int turn;

    void open() throws IOException {
        if (log != null) {
            close();
            for (String old : new String[] {"@{journal}", "@{capture}"}) Files.deleteIfExists(Path.of("@{work}", old + "." + (turn - 2)));
        }
        log = new FileOutputStream("@{work}/@{journal}." + turn);
        if (@{both} == 1) log = new TeeOutputStream(log, new FileOutputStream("@{work}/@{capture}." + turn));
        turn++;
        size = 0;
    }

    void close() throws IOException {
        if (log instanceof TeeOutputStream) spent += ((TeeOutputStream) log).spent;
        log.close();
    }

    void @{fnCamel}(Change change) throws IOException {
        record.clear();
        record.putLong(++number).putLong(change.row).putInt(change.text.length).put(change.text);
        crc.reset();
        crc.update(record.array(), 0, record.position());
        record.putInt((int) crc.getValue());
        log.write(record.array(), 0, record.position());
        size += record.position();
    }

    public static void main(String[] args) throws Exception {
        BlockingQueue<Change[]> queue = new ArrayBlockingQueue<>(2);
        Random random = new Random(5);
        byte[][] texts = new byte[64][@{width}];
        for (byte[] text : texts) random.nextBytes(text);
        long period = (long) (@{records} * 8e3 / @{pace});
        Thread source = new Thread(() -> {
            try {
                for (long due = System.nanoTime(); ; ) {
                    Change[] batch = new Change[@{used}];
                    for (int i = 0; i < batch.length; i++) batch[i] = new Change(i * 31L, texts[random.nextInt(64)]);
                    due = Math.max(due + period, System.nanoTime());
                    Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
                    queue.put(batch);
                }
            } catch (InterruptedException over) {
                // The end.
            }
        }, "replication");
        source.setDaemon(true);
        source.start();
        @{Class} app = new @{Class}();
        app.open();
        long began = System.nanoTime(), units = 0, busy = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            Change[] batch = queue.take();
            long start = System.nanoTime();
            for (Change change : batch) app.@{fnCamel}(change);
            if (app.size > @{turn_mb}L << 20) app.open();
            units++;
            busy += System.nanoTime() - start;
        }
        app.close();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, app.spent / 1e9));
    }
}
