import java.io.*;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.zip.CRC32;

/** Mirrors documents of a remote store; each is a stream. */
public class @{Class} {
    static final class Remote extends InputStream {
        private final DataInputStream in;
        private final OutputStream out;
        private byte[] block = new byte[0];
        private int at = 0;
        private long from = 0;
        private final String name;
        double spent = 0;

        Remote(Socket line, String name) throws IOException {
            in = new DataInputStream(new BufferedInputStream(line.getInputStream(), 65536));
            out = line.getOutputStream();
            this.name = name;
        }

        @SuppressWarnings("deprecation")
        private boolean @{fnCamel}() throws IOException {
            long began = System.nanoTime();
            out.write(("READ " + name + " " + from + " " + @{piece} + "\n").getBytes(StandardCharsets.US_ASCII));
            int length = Integer.parseInt(in.readLine());
            block = new byte[length];
            in.readFully(block);
            from += length;
            at = 0;
            spent += (System.nanoTime() - began) / 1e9;
            return length > 0;
        }

        @Override
        public int read() throws IOException {
            if (at == block.length && (from >= @{size} || !@{fnCamel}())) return -1;
            return block[at++] & 255;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            if (at == block.length && (from >= @{size} || !@{fnCamel}())) return -1;
            int n = Math.min(length, block.length - at);
            System.arraycopy(block, at, into, offset, n);
            at += n;
            return n;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Socket line = new Socket("127.0.0.1", @{store});
        line.setTcpNoDelay(true);
        // The index pages first.
        for (int i = 0; i < 5; i++) new Remote(line, "index-" + i).readAllBytes();
        long began = System.nanoTime();
        int units = 0;
        double busy = 0, spent = 0;
        Map<Integer, Long> sums = new HashMap<>();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            Remote remote = new Remote(line, "page-" + units);
            byte[] page = remote.readAllBytes();
            CRC32 sum = new CRC32();
            for (int i = 0; i < @{rounds}; i++) sum.update(page);
            sums.put(units % 100, sum.getValue());
            spent += remote.spent;
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{pace} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent));
    }
}
