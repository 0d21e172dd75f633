import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Brings loaned audiobooks to the player of a branch, chapter by chapter. */
public class @{Class} implements Closeable {
    record Loan(int number, String reader, int chapter) {}

    private final SocketChannel line;
    private final BufferedReader answers;
    private final ByteBuffer piece = ByteBuffer.allocateDirect(@{buffer});
    private double moving;

    @{Class}() throws IOException {
        line = SocketChannel.open(new InetSocketAddress("127.0.0.1", @{port}));
        line.setOption(StandardSocketOptions.TCP_NODELAY, true);
        answers = new BufferedReader(new InputStreamReader(Channels.newInputStream(line), StandardCharsets.US_ASCII));
    }

    static double now() { return System.nanoTime() / 1e9; }

    void @{fnCamel}(FileChannel file, long size) throws IOException {
        if ("@{how}".equals("kernel")) {
            for (long at = 0; at < size; ) at += file.transferTo(at, size - at, line);
            return;
        }
        while (file.read(piece.clear()) >= 0) {
            piece.flip();
            while (piece.hasRemaining()) line.write(piece);
        }
    }

    void masked(FileChannel file, Loan loan) throws IOException {
        ByteBuffer changed = ByteBuffer.allocate(65536);
        byte key = (byte) (1 + loan.number() % 100);
        while (file.read(changed.clear()) >= 0) {
            changed.flip();
            byte[] bytes = changed.array();
            for (int at = 0; at < changed.limit(); at++) bytes[at] ^= key;
            while (changed.hasRemaining()) line.write(changed);
        }
    }

    void bring(Loan loan) throws IOException {
        Path path = Path.of("@{work}/@{shelf}", "ch" + loan.chapter() + "@{suffix}");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
            String head = loan.reader() + "-ch" + loan.chapter() + " " + file.size() + "\n";
            line.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
            double start = now();
            if ("@{how}".equals("mask")) masked(file, loan);
            else @{fnCamel}(file, file.size());
            if ("@{how}".equals("loop")) moving += now() - start;
        }
        if (!"stored".equals(answers.readLine())) throw new IOException("the player is gone");
    }

    @Override
    public void close() throws IOException { line.close(); }

    public static void main(String[] arguments) throws Exception {
        Map<Integer, String> ledger = new HashMap<>();
        try (@{Class} branch = new @{Class}()) {
            double began = now(), busy = 0;
            int units = 0;
            while (now() - began < @{seconds}) {
                double start = now();
                Loan loan = new Loan(units, Integer.toHexString(("reader " + units % 300).hashCode()), units % @{chapters});
                branch.bring(loan);
                ledger.put(loan.number(), loan.toString());
                units++;
                busy += now() - start;
                double rest = began + units / (double) @{rate} - now();
                if (rest > 0) Thread.sleep((long) (rest * 1000));
            }
            String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, branch.moving);
            Files.writeString(Path.of("@{report}"), text);
        }
    }
}
