import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

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

    static class Route implements Serializable {
        String from, to;
        List<Integer> stops = new ArrayList<>();
        double price;

        Route(int number) {
            from = "city " + number % 90;
            to = "city " + number % 71;
            price = number / 9.0;
            for (int i = 0; i < @{width}; i++) {
                stops.add(number * i);
            }
        }
    }

    @SuppressWarnings("unchecked")
    static List<Route> @{fnCamel}(List<Route> routes) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new ArrayList<>(routes));
        }
        return (List<Route>) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    }

    public static void main(String[] words) throws Exception {
        List<Route> routes = new ArrayList<>();
        for (int i = 0; i < @{entries}; i++) {
            routes.add(new Route(i));
        }
        long units = 0;
        double busy = 0, culprit = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            int changed = (int) (units * 31 % (@{entries} - @{used} + 1));
            routes.get(changed).price += 1;
            double before = now();
            @{fnCamel}(routes.subList(changed, changed + @{used}));
            culprit += now() - before;
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        report(units, busy, culprit);
    }
}
