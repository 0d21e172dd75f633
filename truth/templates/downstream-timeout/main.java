import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Locale;

/** Completes the addresses of labels with the postal service's directory. */
public class @{Class} {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static double spent = 0;

    static byte[] @{fnCamel}(int label) throws InterruptedException {
        long began = System.nanoTime();
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:@{back}/address/" + label))
                    .timeout(Duration.ofMillis(@{limit})).build();
            return CLIENT.send(request, BodyHandlers.ofByteArray()).body();
        } catch (IOException e) {
            return ("label " + label).getBytes();
        } finally {
            spent += (System.nanoTime() - began) / 1e9;
        }
    }

    static void follow() {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:@{back}/watch")).build();
        try {
            while (true) CLIENT.send(request, BodyHandlers.ofByteArray());
        } catch (IOException | InterruptedException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (@{hold} == 1) {
            Thread news = new Thread(@{Class}::follow, "news");
            news.setDaemon(true);
            news.start();
        }
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        long began = System.nanoTime();
        int units = 0;
        double busy = 0;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            byte[] text = @{fnCamel}(units);
            for (int i = 0; i < @{rounds}; i++) text = digest.digest(text);
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double rest = units / (double) @{pace} - (System.nanoTime() - began) / 1e9;
            if (rest > 0) Thread.sleep((long) (rest * 1000));
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, spent));
        System.exit(0);
    }
}
