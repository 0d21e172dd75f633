import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Says before a voyage in which of its load cases the ship would not right itself. */
public class @{Class} {
    static final int CASES = @{pool}, FRAMES = @{frames};

    record Righting(double lever, double there, double taken) {}

    /** The area under the curve of righting levers, frame by frame. */
    static double @{fnCamel}(int voyage, int loadCase) {
        double area = 0, draught = 6.5 + (voyage % 7) * 0.2 + (loadCase % 11) * 0.15;
        for (int angle = 0; angle < @{angles}; angle++) {
            double heel = Math.toRadians(angle * 60.0 / @{angles}), lever = 0;
            for (int frame = 0; frame < FRAMES; frame++) {
                double breadth = 16 * Math.sin(Math.PI * (frame + 0.5) / FRAMES);
                double wet = 0;
                for (int line = 0; line < 12; line++) {
                    double height = draught * line / 12 + breadth * 0.5 * heel;
                    wet += Math.sqrt(1 + height * height) * breadth / (1 + height);
                }
                lever += wet * heel - 0.3 * heel * heel * wet;
            }
            area += lever / FRAMES;
        }
        return area;
    }

    static double now() {
        return System.nanoTime() / 1e9;
    }

    static Righting check(int voyage, int loadCase, double ordered) throws InterruptedException {
        double from = now();
        Thread.sleep(@{probe_ms});
        double lever = @{fnCamel}(voyage, loadCase);
        return new Righting(lever, now() - ordered, now() - from - @{probe_ms} / 1000.0);
    }

    public static void main(String[] arguments) throws Exception {
        double usual = Double.MAX_VALUE, sum = 0;
        for (double until = now() + 0.3; now() < until;) {
            double from = now();
            sum += @{fnCamel}(0, 1);
            usual = Math.min(usual, now() - from);
        }
        List<ExecutorService> desks = new ArrayList<>();
        while (desks.size() < @{threads}) {
            desks.add(Executors.newSingleThreadExecutor());
            desks.get(desks.size() - 1).submit(() -> @{fnCamel}(0, 2)).get();
        }
        double began = now(), seconds = 0, waited = 0;
        int units = 0;
        for (int voyage = 0; now() - began < @{seconds}; voyage++) {
            List<Future<Righting>> asked = new ArrayList<>();
            int which = voyage;
            double ordered = now();
            for (int i = 0; i < CASES; i++) {
                int loadCase = i;
                asked.add(desks.get(i % @{threads}).submit(() -> check(which, loadCase, ordered)));
            }
            double worst = Double.MAX_VALUE;
            for (Future<Righting> one : asked) {
                Righting righting = one.get();
                worst = Math.min(worst, righting.lever());
                seconds += righting.there();
                waited += Math.max(0, righting.taken() - usual);
                units++;
            }
            System.out.printf("voyage %d: %.2f%n", voyage, worst + sum * 0);
            double rest = began + (voyage + 1) / @{rate} - now();
            if (rest > 0) {
                Thread.sleep((long) (rest * 1000));
            }
        }
        desks.forEach(ExecutorService::shutdown);
        Files.writeString(Path.of("@{report}"),
                String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, waited));
    }
}
