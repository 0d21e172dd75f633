import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Exports pages; what is exported goes through a stream that may have a branch. */
public class @{Class} {
    static class Rolling extends OutputStream {
        final FileOutputStream file;
        long at;

        Rolling(String path) throws IOException {
            file = new FileOutputStream(path);
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            if (at + count > 48 << 20) {
                file.getChannel().position(0);
                at = 0;
            }
            file.write(bytes, from, count);
            at += count;
        }
    }

    static class Branching extends OutputStream {
        final OutputStream main, branch;
        long nanos;

        Branching(OutputStream main, OutputStream branch) {
            this.main = main;
            this.branch = branch;
        }

        @Override
        public void write(int one) throws IOException {
            main.write(one);
            branch.write(one);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            main.write(bytes, from, count);
            long start = System.nanoTime();
            branch.write(bytes, from, count);
            nanos += System.nanoTime() - start;
        }
    }

    static void @{fnCamel}(OutputStream out, byte[] page, long number) throws IOException {
        for (int i = 0; i < @{used}; i++) {
            page[0] = (byte) i;
            page[1] = (byte) number;
            out.write(page);
        }
    }

    public static void main(String[] args) throws Exception {
        OutputStream out = new Rolling("@{work}/@{journal}");
        if (@{targets} > 1) {
            out = new Branching(out, new Rolling("@{work}/@{second}"));
        }
        byte[] page = new byte[@{bytes}];
        java.util.Arrays.fill(page, (byte) 'p');
        double rate = Math.min(300, @{load} * 1e9 / (@{block} * (double) @{blocks})), busy = 0;
        long began = System.nanoTime(), units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            @{fnCamel}(out, page, units);
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            long rest = began + (long) (units / rate * 1e9) - System.nanoTime();
            if (rest > 0) {
                Thread.sleep(rest / 1000000, (int) (rest % 1000000));
            }
        }
        double culprit = out instanceof Branching ? ((Branching) out).nanos / 1e9 : 0;
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }
}
