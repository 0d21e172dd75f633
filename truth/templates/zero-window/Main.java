import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.Socket;

public class @{Class} {
    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        Thread.sleep(Math.max(0L, (long) ((due - now()) * 1000)));
    }

    static void report(long units, double busy, double culprit) throws java.io.IOException {
        String text = String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
        java.nio.file.Files.writeString(java.nio.file.Path.of("@{report}"), text);
    }

    static double pushing;

    static void @{fnCamel}(DataOutputStream out, long batch) throws Exception {
        double start = now();
        for (int row = 0; row < @{used} * 64; row++) {
            out.writeLong(batch);
            out.writeLong(row);
        }
        out.flush();
        pushing += now() - start;
    }

    public static void main(String[] words) throws Exception {
        Socket depot = new Socket();
        depot.setSendBufferSize(65536);
        depot.connect(new java.net.InetSocketAddress("127.0.0.1", @{port}));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(depot.getOutputStream(), 32768));
        long units = 0;
        double busy = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            @{fnCamel}(out, units);
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        report(units, busy, pushing);
    }
}
