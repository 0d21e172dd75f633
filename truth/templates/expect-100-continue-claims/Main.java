import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Sends the photos of damages to the archive. */
public class @{Class} {
    private long asking;

    private String @{fnCamel}(int number, byte[] photo) throws IOException {
        HttpURLConnection archive = (HttpURLConnection) URI.create("http://127.0.0.1:@{archive}/claims/" + number).toURL().openConnection();
        archive.setRequestMethod("PUT");
        archive.setDoOutput(true);
        archive.setReadTimeout(@{patience});
        archive.setRequestProperty("Content-Type", "image/jpeg");
        archive.setFixedLengthStreamingMode(photo.length);
        if (@{ask} == 1)
            archive.setRequestProperty("Expect", "100-Continue");
        long start = System.nanoTime();
        OutputStream out = archive.getOutputStream();
        asking += System.nanoTime() - start;
        out.write(photo);
        out.close();
        if (archive.getResponseCode() != HttpURLConnection.HTTP_CREATED)
            throw new IOException("the archive answered " + archive.getResponseCode());
        try (InputStream in = archive.getInputStream()) {
            return new String(in.readAllBytes());
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        @{Class} sender = new @{Class}();
        byte[] photo = new byte[@{kilobytes} << 10];
        long begin = System.nanoTime(), busy = 0;
        int units = 0;
        while ((System.nanoTime() - begin) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            photo[units % photo.length]++;
            sender.@{fnCamel}(units, photo);
            units++;
            busy += System.nanoTime() - start;
            Thread.sleep(Math.max(0, (long) (units * 1000.0 / @{rate} - (System.nanoTime() - begin) / 1e6)));
        }
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, sender.asking / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
