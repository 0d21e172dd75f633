import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Plans parcels by rules that another service keeps. */
public class @{Class} {
    private final ReentrantReadWriteLock @{lock} = new ReentrantReadWriteLock();
    private final Socket socket = new Socket("127.0.0.1", @{port});
    private final BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream()));
    private final DoubleAdder waited = new DoubleAdder(), busy = new DoubleAdder();
    private final LongAdder units = new LongAdder();
    private double factor = 1;

    @{Class}() throws IOException {
    }

    private double ask() throws IOException {
        socket.getOutputStream().write("rules\n".getBytes());
        return Double.parseDouble(answers.readLine());
    }

    private void @{fnCamel}() {
        try {
            double fresh = @{inside} == 1 ? 0 : ask();
            @{lock}.writeLock().lock();
            try {
                factor = @{inside} == 1 ? ask() : fresh;
            } finally {
                @{lock}.writeLock().unlock();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void plan() {
        long start = System.nanoTime();
        @{lock}.readLock().lock();
        double mine = factor;
        @{lock}.readLock().unlock();
        waited.add((System.nanoTime() - start) / 1e9);
        long computing = System.nanoTime();
        while (System.nanoTime() - computing < @{effort} * 1e6)
            mine = Math.sqrt(mine + 1);
        units.increment();
        busy.add((System.nanoTime() - start) / 1e9 + (mine < 0 ? 1 : 0));
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} planner = new @{Class}();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1, task -> new Thread(task, "rules"));
        timer.scheduleWithFixedDelay(planner::@{fnCamel}, 0, (long) (@{every} * 1000), TimeUnit.MICROSECONDS);
        ScheduledExecutorService trucks = Executors.newScheduledThreadPool(@{threads});
        for (int i = 0; i < @{threads}; i++)
            trucks.scheduleWithFixedDelay(planner::plan, i * 7, (long) (1000 / @{rate}), TimeUnit.MILLISECONDS);
        Thread.sleep((long) (@{seconds} * 1000));
        trucks.shutdown();
        trucks.awaitTermination(5, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
                planner.units.sum(), planner.busy.sum(), planner.waited.sum()));
        System.exit(0);
    }
}
