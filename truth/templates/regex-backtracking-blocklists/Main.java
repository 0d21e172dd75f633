import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Compiles blocklists: takes the lists that a publisher sends, refuses what is no host, and keeps what no wider entry covers. */
public class @{Class} {
    static final Pattern HOST = Pattern.compile(
        "@{host}".equals("exact") ? "^([a-z0-9]+(-[a-z0-9]+)*\\.)+[a-z]{2,}$" : "^(([a-z0-9]+-?)+\\.)+[a-z]{2,}$");

    /** Reads ahead a little. */
    static class Subscription extends Thread {
        final BlockingQueue<List<String>> lists = new ArrayBlockingQueue<>(2);

        Subscription() {
            super("subscription");
            setDaemon(true);
        }

        @Override
        public void run() {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), @{feed});
                    BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
                for (String head = in.readLine(); head != null; head = in.readLine()) {
                    List<String> names = new ArrayList<>();
                    for (int left = Integer.parseInt(head.substring(5)); left > 0; left--) names.add(in.readLine());
                    lists.put(names);
                }
            } catch (IOException gone) {
                System.err.println(gone.getMessage());
            } catch (InterruptedException over) {
                interrupt();
            }
        }
    }

    private final Set<String> hosts = new HashSet<>();

    static List<String> @{fnCamel}(List<String> names) {
        return names.stream().filter(name -> HOST.matcher(name).find()).collect(Collectors.toList());
    }

    boolean covered(String name) {
        for (int dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
            if (hosts.contains(name.substring(dot + 1))) return true;
        }
        return false;
    }

    void add(List<String> names) {
        names.sort(Comparator.comparingInt(String::length));
        for (String name : names) {
            if (!covered(name)) hosts.add(name);
        }
    }

    void write(Path path) throws IOException {
        String text = hosts.stream().sorted().limit(2000).map(name -> "0.0.0.0 " + name + "\n").collect(Collectors.joining());
        Files.writeString(path, text);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        @{Class} blocklist = new @{Class}();
        Subscription subscription = new Subscription();
        subscription.start();
        long began = System.nanoTime();
        long busy = 0;
        long checking = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            List<String> names = subscription.lists.take();
            long start = System.nanoTime();
            List<String> good = @{fnCamel}(names);
            checking += System.nanoTime() - start;
            blocklist.add(good);
            blocklist.write(Path.of("@{work}/hosts.block"));
            units++;
            busy += System.nanoTime() - start;
        }
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, checking / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
