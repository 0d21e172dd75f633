import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Clocks the birds of a race as they come home. */
public class @{Class} implements Runnable {
    record Arrival(double speed, String ring, int race) {}

    private final Path lists = Path.of("@{work}/@{lists}");
    private final ArrayDeque<Path> seasons = new ArrayDeque<>();
    private final PriorityQueue<Arrival> best = new PriorityQueue<>((a, b) -> Double.compare(a.speed(), b.speed()));
    private final Set<String> races = new HashSet<>();
    private final double pause = @{pause};
    private byte[] seal = new byte[32];
    private long looked = Long.MIN_VALUE / 2, busy, spent;
    private int units;

    private void @{fnCamel}(Path folder) throws IOException {
        long start = System.nanoTime();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                races.add(entry.getFileName().toString());
            }
        }
        looked = System.nanoTime();
        spent += looked - start;
    }

    private void home(int number) throws Exception {
        String ring = String.format(Locale.ROOT, "BE-%04d-%02d-%d", number % 9973, number % 97, number);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < @{rounds}; i++) {
            digest.update(seal);
            seal = digest.digest(ring.getBytes());
        }
        double hours = 1.5 + number % 311 / 100.0;
        best.add(new Arrival((90000 + number * 37 % 60000) / hours / 60, ring, number % (races.size() + 1)));
        if (best.size() > 40) {
            best.poll();
        }
    }

    @Override
    public void run() {
        long start = System.nanoTime();
        try {
            if (pause < 0) {
                if (!seasons.isEmpty()) {
                    @{fnCamel}(seasons.pop());
                }
            } else if (start - looked >= pause * 1e9) {
                @{fnCamel}(lists);
            }
            home(units++);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        busy += System.nanoTime() - start;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} clock = new @{Class}();
        if (clock.pause < 0) {
            try (DirectoryStream<Path> years = Files.newDirectoryStream(Path.of("@{work}/@{old}"))) {
                years.forEach(clock.seasons::add);
            }
        }
        ScheduledExecutorService gate = Executors.newSingleThreadScheduledExecutor();
        gate.scheduleAtFixedRate(clock, 0, 1_000_000 / @{rate}, TimeUnit.MICROSECONDS);
        Thread.sleep((long) (@{seconds} * 1000));
        gate.shutdownNow();
        gate.awaitTermination(5, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", clock.units, clock.busy / 1e9, clock.spent / 1e9));
    }
}
