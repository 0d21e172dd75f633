import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

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

    // The last thumbnail of each picture, by its number.
    static byte[][] shelf = new byte[@{live}][];

    static byte[] draw(int picture, int round) {
        byte[] pixels = new byte[100];
        paint(pixels, picture, round);
        return pixels;
    }

    static void paint(byte[] pixels, int picture, int round) {
        for (int i = 0; i < pixels.length; i += 9) {
            pixels[i] = (byte) (picture * i + round);
        }
    }

    static long @{fnCamel}(int round, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            int picture = (int) (((long) round * count + i) % shelf.length);
            if (@{reuse} == 1) {
                paint(shelf[picture], picture, round);
            } else {
                shelf[picture] = draw(picture, round);
            }
            sum += shelf[picture][18];
        }
        return sum;
    }

    static double collected() {
        long millis = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += bean.getCollectionTime();
        }
        return millis / 1e3;
    }

    public static void main(String[] words) throws Exception {
        for (int i = 0; i < shelf.length; i++) {
            shelf[i] = draw(i, 0);
        }
        long units = 0, sum = 0;
        double busy = 0, began = now(), before = collected();
        while (now() - began < @{seconds}) {
            double start = now();
            sum += @{fnCamel}((int) units, @{used});
            units++;
            busy += now() - start;
            waitUntil(began + units / (double) @{rate});
        }
        report(units, busy, Math.min(busy, collected() - before));
        System.out.println(sum);
    }
}
