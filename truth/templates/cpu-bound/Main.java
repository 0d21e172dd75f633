import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;

/** Books the entries of a ledger: the balance after each of them. */
public class @{Class} {
    record Entry(long account, long cents) {}

    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        double rest = due - now();
        if (rest > 0) {
            Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1e6));
        }
    }

    static void report(long units, double seconds, double culprit) throws Exception {
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit));
    }

    static long @{fnCamel}(List<Entry> entries) {
        long balance = 0, lowest = 0;
        for (int i = 0; i < entries.size(); i++) {
            balance += entries.get(i).cents();
            lowest = Math.min(lowest, balance);
        }
        return lowest;
    }

    public static void main(String[] arguments) throws Exception {
        List<Entry> entries = "@{index}".equals("list") ? new LinkedList<>() : new ArrayList<>();
        for (int i = 0; i < @{rows}; i++) {
            entries.add(new Entry(i % 17, i * 7919L % 2001 - 1000));
        }
        long units = 0, sum = 0;
        double busy = 0, culprit = 0, began = now();
        while (now() - began < @{seconds}) {
            double start = now();
            entries.remove(0);
            entries.add(new Entry(units % 17, units * 7919L % 2001 - 1000));
            double asked = now();
            sum += @{fnCamel}(entries);
            culprit += now() - asked;
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        report(units, busy, culprit);
        System.out.println(sum);
    }
}
