import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.zip.CRC32;

/** Books postings into a ledger file, in the order of their coming. */
public class @{Class} {
    record Posting(long number, String text, CountDownLatch booked) {}

    static final ArrayBlockingQueue<Posting> desk = new ArrayBlockingQueue<>(64);
    static long spent, busy, units;

    static class Ledger implements AutoCloseable {
        private final RandomAccessFile file;

        Ledger(String path) throws Exception {
            file = new RandomAccessFile(path, "@{java_mode}");
            file.seek(file.length());
        }

        void @{fnCamel}(byte[] line) throws Exception {
            long start = System.nanoTime();
            for (int i = 0; i < @{lines}; i++) file.write(line);
            spent += System.nanoTime() - start;
        }

        public void close() throws Exception { file.close(); }
    }

    static void book(Ledger ledger) throws Exception {
        CRC32 sum = new CRC32();
        while (true) {
            Posting posting = desk.take();
            if (posting.number < 0) return;
            long start = System.nanoTime();
            byte[] text = posting.text.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < @{rounds} / 20; i++) sum.update(text);
            ledger.@{fnCamel}((posting.number + ";" + sum.getValue() + ";" + posting.text + "\n").getBytes(StandardCharsets.UTF_8));
            busy += System.nanoTime() - start;
            units++;
            posting.booked.countDown();
        }
    }

    public static void main(String[] words) throws Exception {
        try (Ledger ledger = new Ledger("@{work}/@{log}")) {
            Thread clerk = new Thread(() -> {
                try { book(ledger); } catch (Exception error) { error.printStackTrace(); System.exit(1); }
            }, "clerk");
            clerk.start();
            long end = System.nanoTime() + (long) (@{seconds} * 1e9), due = System.nanoTime();
            String text = "p".repeat(@{bytes});
            for (long number = 0; System.nanoTime() < end; number++) {
                Posting posting = new Posting(number, text, new CountDownLatch(1));
                desk.put(posting);
                posting.booked.await();
                due = Math.max(due + (long) (1e9 / @{per_s}), System.nanoTime());
                long rest = due - System.nanoTime();
                if (rest > 0) Thread.sleep(rest / 1000000, (int) (rest % 1000000));
            }
            desk.put(new Posting(-1, "", null));
            clerk.join();
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + spent / 1e9 + "}");
    }
}
