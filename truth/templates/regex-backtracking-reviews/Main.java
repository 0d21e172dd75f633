// A filter in front of a page of reviews: advertisements are kept back, and so is what was said a moment ago.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.text.Normalizer;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;

public class @{Class} {
    static final Pattern OFFER = Pattern.compile(
        "@{expression}".equals("free")
            ? "^.*(www|http).*\\..*\\..*[0-9]+ ?(eur|usd)"
            : "(?:www|http)[^.\\s]*\\.[^.\\s]*\\.[^0-9]*[0-9]+ ?(?:eur|usd)");
    static final int KEPT = @{recent} * 2;

    final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    final ArrayDeque<Set<String>> recent = new ArrayDeque<>();

    boolean @{fnCamel}(String text) {
        return OFFER.matcher(text).find();
    }

    // The threes of letters of a text, by which likeness is measured.
    static Set<String> threes(String text) {
        Set<String> found = new HashSet<>();
        for (int at = 0; at + 3 <= text.length(); at += 2) found.add(text.substring(at, at + 3));
        return found;
    }

    synchronized boolean isRepeated(Set<String> threes) {
        for (Set<String> earlier : recent) {
            int same = 0;
            for (String three : threes) {
                if (earlier.contains(three)) same++;
            }
            if (threes.size() > 60 && same > threes.size() * 0.97) return true;
        }
        recent.addLast(threes);
        if (recent.size() > KEPT) recent.removeFirst();
        return false;
    }

    String verdict(String text) {
        String lower = Normalizer.normalize(text.toLowerCase(), Normalizer.Form.NFC);
        if (@{fnCamel}(lower)) return "offer";
        return isRepeated(threes(lower)) ? "repeated" : "published";
    }

    void serve(Socket guest) {
        try (guest; BufferedReader in = new BufferedReader(new InputStreamReader(guest.getInputStream()))) {
            guest.setTcpNoDelay(true);
            for (String text; (text = in.readLine()) != null; ) {
                String said = verdict(text);
                counts.computeIfAbsent(said, key -> new LongAdder()).increment();
                guest.getOutputStream().write((said + "\n").getBytes());
            }
        } catch (IOException e) {
            System.err.println("guest: " + e.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} filter = new @{Class}();
        ExecutorService readers = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket guest = door.accept();
                readers.submit(() -> filter.serve(guest));
            }
        }
    }
}
