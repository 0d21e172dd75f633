import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Calendar;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Watches the time that answers take, by the minute, from the access log. One thread receives, another one counts. */
public class @{Class} {
    record Entry(String host, int minute, int status, double took) {}

    static final class Sum {
        long count, failed;
        double took;
    }

    static List<Entry> @{fnCamel}(String[] lines) throws Exception {
        List<Entry> entries = new ArrayList<>();
        for (String line : lines) {
            String[] parts = line.split("\"");
            if (parts.length < 7)
                continue;
            String[] head = parts[0].split(" +");
            String[] ask = parts[1].split("\\s+");
            String[] answer = parts[2].trim().split("\\s+");
            SimpleDateFormat format = new SimpleDateFormat("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH);
            Calendar when = Calendar.getInstance();
            when.setTime(format.parse(head[3].substring(1) + " " + head[4].replace("]", "")));
            if (ask.length == 3 && ask[1].startsWith("/"))
                entries.add(new Entry(head[0], when.get(Calendar.HOUR_OF_DAY) * 60 + when.get(Calendar.MINUTE), Integer.parseInt(answer[0]), Double.parseDouble(parts[6].trim())));
        }
        return entries;
    }

    static int digits(String line, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++)
            value = value * 10 + line.charAt(i) - '0';
        return value;
    }

    static List<Entry> byPlace(String[] lines) {
        List<Entry> entries = new ArrayList<>(lines.length);
        for (String line : lines) {
            int at = line.indexOf('['), status = line.indexOf("\" ", at) + 2, took = line.lastIndexOf(' ') + 3;
            entries.add(new Entry(line.substring(0, line.indexOf(' ')), digits(line, at + 13, at + 15) * 60 + digits(line, at + 16, at + 18), digits(line, status, status + 3), digits(line, took, line.length()) / 1000.0));
        }
        return entries;
    }

    public static void main(String[] arguments) throws Exception {
        Socket relay = new Socket("127.0.0.1", @{port});
        relay.getOutputStream().write((@{lines} * 100 + "\n").getBytes());
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        BlockingQueue<byte[]> received = new ArrayBlockingQueue<>(8);
        Thread receiver = new Thread(() -> {
            try (InputStream in = relay.getInputStream()) {
                byte[] part = new byte[65536];
                for (int n; (n = in.read(part)) > 0;)
                    received.put(java.util.Arrays.copyOf(part, n));
            } catch (Exception closed) {
                // The relay is told no more.
            }
        }, "receiver");
        receiver.setDaemon(true);
        receiver.start();

        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        BitSet visitors = new BitSet(1 << 24);
        Map<Integer, Sum> minutes = new HashMap<>();
        long units = 0, busy = 0, culprit = 0;
        String rest = "";
        while (System.nanoTime() < end) {
            byte[] part = received.poll(100, TimeUnit.MILLISECONDS);
            if (part == null)
                continue;
            long start = System.nanoTime();
            String text = rest + new String(part, StandardCharsets.ISO_8859_1);
            int last = text.lastIndexOf('\n');
            rest = text.substring(last + 1);
            String[] lines = last < 0 ? new String[0] : text.substring(0, last).split("\n");
            long parsing = System.nanoTime();
            List<Entry> entries = "@{way}".equals("fields") ? @{fnCamel}(lines) : byPlace(lines);
            culprit += System.nanoTime() - parsing;
            for (Entry entry : entries) {
                // Visitors are told apart by a number made of their address.
                byte[] visitor = entry.host().getBytes(StandardCharsets.ISO_8859_1);
                for (int i = 0; i < @{rounds}; i++)
                    visitor = digest.digest(visitor);
                visitors.set((visitor[0] & 255) << 16 | (visitor[1] & 255) << 8 | visitor[2] & 255);
                Sum sum = minutes.computeIfAbsent(entry.minute(), minute -> new Sum());
                sum.count++;
                sum.took += entry.took();
                if (entry.status() >= 500)
                    sum.failed++;
            }
            units += entries.size();
            busy += System.nanoTime() - start;
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, culprit / 1e9));
        System.exit(0);
    }
}
