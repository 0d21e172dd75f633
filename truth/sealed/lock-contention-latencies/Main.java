import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/** Collects the latencies that probes measure, and computes their percentiles time and again. */
public class @{Class} {
    private final ReentrantLock @{lock} = new ReentrantLock();
    private final double[] values = new Random(5).doubles(@{samples}, 0, 1000).toArray();
    private final double[] sorted = new double[values.length];
    private int next;
    private volatile double statistics;

    private int add(double value) {
        @{lock}.lock();
        try {
            values[next] = value;
            next = (next + 1) % values.length;
            return next;
        } finally {
            @{lock}.unlock();
        }
    }

    private static double percentiles(double[] all) {
        Arrays.sort(all);
        double sum = 0;
        for (int percent = 1; percent < 100; percent++)
            sum += all[(int) ((long) all.length * percent / 100)];
        return sum;
    }

    private double @{fnCamel}() {
        @{lock}.lock();
        try {
            System.arraycopy(values, 0, sorted, 0, values.length);
            if (@{inside} == 1)
                return percentiles(sorted);
        } finally {
            @{lock}.unlock();
        }
        return percentiles(sorted);
    }

    private void compute() {
        try {
            while (true) {
                statistics = @{fnCamel}();
                Thread.sleep((long) @{every}, (int) (@{every} * 1e6 % 1e6));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Socket probe) {
        try (probe) {
            probe.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(probe.getInputStream()));
            String line;
            while ((line = lines.readLine()) != null) {
                int at = add(Double.parseDouble(line.substring(line.indexOf(' ') + 1)));
                probe.getOutputStream().write(("taken " + at + " " + statistics + "\n").getBytes());
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} series = new @{Class}();
        new Thread(series::compute, "statistics").start();
        ServerSocket listener = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket probe = listener.accept();
            new Thread(() -> series.serve(probe), "probe").start();
        }
    }
}
