import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;

/** Sends notices: clerks wait at a desk until there is one. */
public class @{Class} {
    private final Queue<Long> notices = new ArrayDeque<>();
    private long units, busy, rules;

    private synchronized long @{fnCamel}() throws InterruptedException {
        while (notices.isEmpty())
            wait();
        return notices.remove();
    }

    private synchronized void put(long number) {
        notices.add(System.nanoTime());
        if (@{every} != 0 && number % Math.max(1, @{every}) == 0) {
            rules++;
            notifyAll();
        } else if (@{one} == 1) {
            notify();
        } else {
            notifyAll();
        }
    }

    private synchronized void done(long came, long text) {
        units++;
        busy += System.nanoTime() - came + (text & 1);
    }

    private void clerk() {
        try {
            while (true) {
                long came = @{fnCamel}(), text = came, start = System.nanoTime();
                while (System.nanoTime() - start < @{effort} * 1e6)
                    text = Long.rotateLeft(text, 3) ^ start;
                done(came, text);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} desk = new @{Class}();
        for (int i = 0; i < @{workers}; i++) {
            Thread clerk = new Thread(desk::clerk, "@{thread}-" + i);
            clerk.setDaemon(true);
            clerk.start();
        }
        long began = System.nanoTime();
        for (long n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            long rest = began + n * 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            desk.put(n);
        }
        synchronized (desk) {
            Files.writeString(Path.of("@{report}"),
                    String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", desk.units, desk.busy / 1e9));
        }
        Runtime.getRuntime().halt(0);
    }
}
