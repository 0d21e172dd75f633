import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.DoubleAdder;

/** Prices the orders of the day with a few threads; a tariff that cannot be had is taken from the list of last year. */
public class @{Class} {
    private static final Map<Integer, AtomicInteger> failures = new ConcurrentHashMap<>();
    private static final Map<Integer, Double> closedUntil = new ConcurrentHashMap<>();
    private static final DoubleAdder busy = new DoubleAdder(), lost = new DoubleAdder();
    private static final AtomicInteger orders = new AtomicInteger();

    private static double now() {
        return System.nanoTime() / 1e9;
    }

    private static String fetch(String path) throws IOException {
        double start = now();
        HttpURLConnection line = (HttpURLConnection) URI.create("http://127.0.0.1:@{port}" + path).toURL().openConnection();
        line.setConnectTimeout(1000);
        line.setReadTimeout(@{limit});
        try (InputStream in = line.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            line.disconnect();
            lost.add(now() - start);
            throw error;
        }
    }

    private static String request(String path) throws IOException {
        for (int attempt = 1;; attempt++) {
            try {
                return fetch(path);
            } catch (IOException error) {
                if (attempt >= @{tries})
                    throw error;
            }
        }
    }

    private static int @{fnCamel}(int region, int order) {
        if (closedUntil.getOrDefault(region, 0.0) > now())
            return 499;
        AtomicInteger failed = failures.computeIfAbsent(region, r -> new AtomicInteger());
        for (int round = 0; round < @{rounds}; round++) {
            try {
                String body = request("/tariff/region-" + region + "/orders/" + order);
                failed.set(0);
                return Integer.parseInt(body.replaceAll(".*\"cents\":(\\d+).*", "$1"));
            } catch (IOException error) {
                if (failed.incrementAndGet() >= @{breaker}) {
                    closedUntil.put(region, now() + 1.5);
                    break;
                }
            }
        }
        return 499;
    }

    private static long bill(int order, int cents) {
        long start = System.nanoTime(), sum = order;
        while (System.nanoTime() - start < @{effort} * 1e6)
            sum = sum * 31 + cents;
        return sum;
    }

    private static void work(int number, double began) {
        try {
            for (int n = 1; now() - began < @{seconds}; n++) {
                double start = now();
                int order = orders.getAndIncrement();
                bill(order, @{fnCamel}(order % @{regions}, 70000 + order));
                busy.add(now() - start);
                double rest = began + n / @{rate} + number * 0.011 - now();
                Thread.sleep(Math.max(0L, (long) (rest * 1000)));
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    private static void progress() {
        try {
            while (true) {
                fetch("/progress/day-close");
                Thread.sleep(Math.max(1, @{poll}));
            }
        } catch (IOException | InterruptedException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<Thread> threads = new ArrayList<>();
        double began = now();
        for (int i = 0; i < 3; i++) {
            int number = i;
            threads.add(new Thread(() -> work(number, began), "pricing-" + i));
            threads.get(i).start();
        }
        if (@{poll} > 0) {
            Thread watch = new Thread(@{Class}::progress, "day-close");
            watch.setDaemon(true);
            watch.start();
        }
        for (Thread thread : threads)
            thread.join();
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", orders.get(), busy.sum(), lost.sum()));
    }
}
