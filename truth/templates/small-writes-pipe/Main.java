import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Sends the readings of each hour on, in the binary form of the archive. */
public class @{Class} {
    record Reading(long meter, long at, double value, String unit) {}

    final DataOutputStream out;

    @{Class}(OutputStream out) {
        this.out = new DataOutputStream(out);
    }

    void @{fnCamel}(List<Reading> readings) throws IOException {
        for (Reading reading : readings) {
            out.writeLong(reading.meter);
            out.writeLong(reading.at);
            out.writeDouble(reading.value);
            out.writeUTF(reading.unit);
        }
        out.flush();
    }

    static double smooth(double value) {
        for (int i = 0; i < @{steps} / 16; i++) value = value * 0.97 + Math.sin(value + i);
        return value;
    }

    static List<Reading> hour(long hour) {
        List<Reading> found = new ArrayList<>();
        for (int i = 0; i < @{used}; i++) found.add(new Reading(i * 17L, hour * 3600 + i, smooth(i * 0.37 + hour), "kWh".repeat(1 + i % @{text} / 3)));
        return found;
    }

    public static void main(String[] args) throws Exception {
        OutputStream packer = new FileOutputStream("@{work}/@{pipe}");
        @{Class} app = new @{Class}(@{gather} > 0 ? new BufferedOutputStream(packer, Math.max(1, @{gather})) : packer);
        double rate = @{pace} * 220000 / @{rows};
        long began = System.nanoTime(), due = began, units = 0, busy = 0, writing = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime();
            List<Reading> readings = hour(units);
            long before = System.nanoTime();
            app.@{fnCamel}(readings);
            writing += System.nanoTime() - before;
            busy += System.nanoTime() - start;
            units++;
            due = Math.max(due + (long) (1e9 / rate), System.nanoTime());
            Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
        }
        packer.close();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, writing / 1e9));
    }
}
