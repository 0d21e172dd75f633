import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Mails the statements of a broker: each customer's, attached. */
public class @{Class} {
    static final String CODER = "@{coder}", TOOL = "@{tool}";
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), coding = new AtomicLong();

    static final ThreadLocal<RandomAccessFile> boxes = new ThreadLocal<>();

    interface Coder {
        String code(byte[] content) throws IOException;
    }

    static String @{fnCamel}(byte[] content) throws IOException {
        Process program = new ProcessBuilder(TOOL, "-w", "76").start();
        try (OutputStream in = program.getOutputStream()) {
            in.write(content);
        }
        String text = new String(program.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        program.getInputStream().close();
        program.getErrorStream().close();
        try {
            if (program.waitFor() != 0) {
                throw new IOException(TOOL + " failed");
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return text;
    }

    static String library(byte[] content) {
        if (TOOL.equals("base64")) {
            return Base64.getMimeEncoder(76, new byte[] {'\n'}).encodeToString(content) + "\n";
        }
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        StringBuilder text = new StringBuilder(content.length * 17 / 10);
        long bits = 0;
        int held = 0, column = 0;
        for (byte one : content) {
            bits = bits << 8 | one & 255;
            for (held += 8; held >= 5; held -= 5) {
                text.append(letters.charAt((int) (bits >> held - 5) & 31));
                if (++column % 76 == 0) {
                    text.append('\n');
                }
            }
        }
        if (held > 0) {
            text.append(letters.charAt((int) (bits << 5 - held) & 31));
        }
        return text.append('\n').toString();
    }

    static byte[] statement(int customer) {
        StringBuilder text = new StringBuilder();
        for (int row = 0; text.length() < @{kb} * 1024; row++) {
            text.append(customer).append(';').append(row * 37 % 1000).append(";shares of number ").append(customer * 7919L % 9973 + row).append('\n');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    static void mail(int customer, Coder coder, Path box) {
        long start = System.nanoTime();
        try {
            byte[] content = statement(customer);
            long before = System.nanoTime();
            String attached = coder.code(content);
            coding.addAndGet(System.nanoTime() - before);
            RandomAccessFile out = boxes.get();
            if (out == null) {
                boxes.set(out = new RandomAccessFile(box.resolve(Thread.currentThread().getName() + ".mbox").toFile(), "rw"));
            } else if (out.getFilePointer() > 4_000_000) {
                out.seek(0);
            }
            String head = "To: customer-" + customer + "@example.org\nSubject: Your statement\nContent-Transfer-Encoding: " + TOOL + "\n\n";
            out.write((head + attached).getBytes(StandardCharsets.US_ASCII));
            units.incrementAndGet();
            busy.addAndGet(System.nanoTime() - start);
            if (@{every} > 0 && customer % Math.max(1, @{every}) == 0) {
                @{fnCamel}(("mails " + units).getBytes());
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Coder coder = CODER.equals("program") ? @{Class}::@{fnCamel} : @{Class}::library;
        Path box = Path.of("@{work}/@{outbox}");
        ExecutorService senders = Executors.newFixedThreadPool(@{senders});
        Semaphore room = new Semaphore(32);
        long began = System.nanoTime();
        for (int number = 1; System.nanoTime() - began < @{seconds} * 1e9; number++) {
            int customer = number;
            room.acquire();
            senders.execute(() -> {
                mail(customer, coder, box);
                room.release();
            });
            long rest = began + (long) (number * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0) {
                TimeUnit.NANOSECONDS.sleep(rest);
            }
        }
        senders.shutdown();
        senders.awaitTermination(10, TimeUnit.SECONDS);
        String report = String.format("{\"units\": %d, \"seconds\": %.6f, \"culprit\": %.6f}", units.get(), busy.get() / 1e9, coding.get() / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
