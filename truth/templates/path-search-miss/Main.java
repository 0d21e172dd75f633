import java.io.File;
import java.io.FileWriter;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Renders letters in the language of who gets them. */
public class @{Class} {
    private static final Map<String, Properties> kept = new HashMap<>();
    private static URLClassLoader loader;
    private static long culprit = 0, busy = 0, units = 0, sum = 0;

    private static Properties @{fnCamel}(String name) throws Exception {
        Properties texts = kept.get(name);
        if (texts != null)
            return texts;
        texts = new Properties();
        long asked = System.nanoTime();
        try (InputStream in = loader.getResourceAsStream(name)) {
            culprit += System.nanoTime() - asked;
            texts.load(in);
        }
        if (@{keep} == 1)
            kept.put(name, texts);
        return texts;
    }

    private static void letter(long number) throws Exception {
        long start = System.nanoTime();
        String text = @{fnCamel}("@{stem}_" + (1 + number % @{names}) + ".properties").getProperty("subject");
        for (int i = 0; i < @{extra} * 40; i++)
            sum = sum * 31 + text.charAt(i % text.length());
        units++;
        busy += System.nanoTime() - start;
    }

    public static void main(String[] args) throws Exception {
        List<URL> places = new ArrayList<>();
        for (int i = 1; i <= @{dirs}; i++)
            places.add(new File("@{work}/@{base}/p" + i + "/@{sub}").toURI().toURL());
        if ("@{at}".equals("first"))
            places.add(0, places.remove(places.size() - 1));
        loader = new URLClassLoader(places.toArray(new URL[0]), null);
        if (@{keep} == 1)
            for (int i = 1; i <= @{names}; i++)
                @{fnCamel}("@{stem}_" + i + ".properties");
        for (int i = 0; i < 1500; i++)
            letter(i);
        culprit = busy = units = 0;
        ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "letters"));
        long began = System.nanoTime();
        for (long n = 0; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            final long number = n;
            pool.submit(() -> { letter(number); return null; }).get();
            double rest = began / 1e6 + (n + 1) * 1000.0 / @{rate} - System.nanoTime() / 1e6;
            if (rest >= 1)
                Thread.sleep((long) rest);
        }
        pool.shutdown();
        pool.awaitTermination(5, TimeUnit.SECONDS);
        try (FileWriter out = new FileWriter("@{report}")) {
            out.write(String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, culprit / 1e9));
        }
    }
}
