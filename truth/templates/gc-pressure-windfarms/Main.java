import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/** Watches a wind farm: which of its turbines gives too little power for its wind. */
public class @{Class} {
    static final int TURBINES = @{turbines}, SAMPLES = @{samples}, MINUTES = @{minutes};

    static class Reading {
        final String turbine;
        final Map<String, Double> channels = new LinkedHashMap<>();

        Reading(String turbine, double wind, double power) {
            this.turbine = turbine;
            channels.put("wind", wind);
            channels.put("power", power);
        }
    }

    static class Model {
        final int bin;
        final Double mean;

        Model(int bin, double mean) {
            this.bin = bin;
            this.mean = mean;
        }
    }

    interface Column {
        double at(int index);
    }

    private final Random chance = new Random(7);
    private final List<List<Reading>> history = new ArrayList<>();
    private final double[][] winds = new double[MINUTES][TURBINES * SAMPLES], powers = new double[MINUTES][TURBINES * SAMPLES];
    private final Map<Integer, Integer> alarms = new HashMap<>();
    private final List<Model> models = new ArrayList<>();

    private double wind() {
        return 4 + 14 * chance.nextFloat();
    }

    private static double power(int turbine, double wind) {
        return Math.min(3000, 0.9 * wind * wind * wind * (1 - 0.02 * (turbine % 5)));
    }

    private List<Reading> @{fnCamel}(int round) {
        List<Reading> found = new ArrayList<>();
        for (int turbine = 0; turbine < TURBINES; turbine++) {
            for (int sample = 0; sample < SAMPLES; sample++) {
                double wind = wind();
                found.add(new Reading("wtg-" + turbine, wind, power(turbine, wind)));
            }
        }
        if (history.size() < MINUTES) {
            history.add(found);
        } else {
            history.set(round % MINUTES, found);
        }
        return found;
    }

    private void fill(int round) {
        double[] wind = winds[round % MINUTES], power = powers[round % MINUTES];
        for (int i = 0; i < TURBINES * SAMPLES; i++) {
            wind[i] = wind();
            power[i] = power(i / SAMPLES, wind[i]);
        }
    }

    private int worst(Column wind, Column power) {
        int worst = 0;
        double most = 0;
        for (int turbine = 0; turbine < TURBINES; turbine++) {
            double missing = 0;
            for (int i = turbine * SAMPLES; i < (turbine + 1) * SAMPLES; i++) {
                double strength = wind.at(i);
                missing += Math.max(0, 0.9 * Math.pow(strength, 3) - power.at(i)) / (1 + Math.sqrt(strength));
            }
            if (missing > most) {
                most = missing;
                worst = turbine;
            }
        }
        return worst;
    }

    private void round(int number) {
        int turbine;
        if ("@{form}".equals("records")) {
            List<Reading> found = @{fnCamel}(number);
            turbine = worst(i -> found.get(i).channels.get("wind"), i -> found.get(i).channels.get("power"));
        } else {
            fill(number);
            turbine = worst(i -> winds[number % MINUTES][i], i -> powers[number % MINUTES][i]);
        }
        alarms.merge(turbine, 1, Integer::sum);
    }

    private static double collecting() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum() / 1e3;
    }

    private void run() throws IOException, InterruptedException {
        for (int i = 0; i < @{models}; i++) {
            models.add(new Model(i % 40, chance.nextDouble()));
        }
        double before = collecting(), busy = 0;
        long began = System.nanoTime();
        int units = 0;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            round(units++);
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) {
                Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1e6));
            }
        }
        double culprit = Math.min(collecting() - before, busy);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit));
    }

    public static void main(String[] arguments) throws Exception {
        new @{Class}().run();
    }
}
