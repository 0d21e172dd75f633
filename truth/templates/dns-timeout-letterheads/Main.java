// Prints letterheads: sets the draft, and looks up whether the domain on it belongs to who ordered it.
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;
import javax.naming.*;
import javax.naming.directory.*;

public class @{Class} {
    record Draft(int number, String domain, List<String> lines) {}

    static final LongAdder units = new LongAdder(), busy = new LongAdder(), looking = new LongAdder();
    static final Map<Long, Boolean> plates = new ConcurrentHashMap<>();

    static DirContext names() throws NamingException {
        Hashtable<String, String> settings = new Hashtable<>();
        settings.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
        settings.put(Context.PROVIDER_URL, "dns://@{ns} dns://@{second}");
        settings.put("com.sun.jndi.dns.timeout.initial", "@{patience_ms}");
        settings.put("com.sun.jndi.dns.timeout.retries", "2");
        return new InitialDirContext(settings);
    }

    static String @{fnCamel}(DirContext names, String domain) throws NamingException {
        try {
            Attribute found = names.getAttributes(domain, new String[] {"TXT"}).get("TXT");
            return found == null ? "" : found.get().toString().replace("owner=", "");
        } catch (NameNotFoundException e) {
            return "";
        }
    }

    static long set(Draft draft, String owner) {
        CRC32 sum = new CRC32();
        for (int font = 0; font < @{fonts}; font++)
            for (String line : draft.lines())
                sum.update((font * 3 + " " + line.toUpperCase() + " " + owner + "\n").getBytes(StandardCharsets.UTF_8));
        return sum.getValue();
    }

    static void press(BlockingQueue<Draft> drafts) {
        try {
            DirContext names = names();
            for (Draft draft; (draft = drafts.take()).number() >= 0;) {
                long start = System.nanoTime();
                String owner = @{fnCamel}(names, draft.domain());
                looking.add(System.nanoTime() - start);
                plates.put(set(draft, owner), !owner.isEmpty());
                units.increment();
                busy.add(System.nanoTime() - start);
            }
        } catch (NamingException | InterruptedException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] args) throws Exception {
        BlockingQueue<Draft> drafts = new ArrayBlockingQueue<>(4);
        List<Thread> presses = new ArrayList<>();
        for (int i = 0; i < @{presses}; i++) {
            presses.add(new Thread(() -> press(drafts), "press-" + i));
            presses.get(i).start();
        }
        long began = System.nanoTime();
        for (int n = 1; System.nanoTime() - began < @{seconds} * 1e9; n++) {
            String name = "firm" + n;
            Draft draft = new Draft(n, name + ".@{zone}", List.of(name + " & sons", "High Street " + n % 90, "www." + name + ".example"));
            drafts.offer(draft, 300, TimeUnit.MILLISECONDS);
            long rest = (long) (n / @{rate} * 1e3) - (System.nanoTime() - began) / 1_000_000;
            if (rest > 0)
                Thread.sleep(rest);
        }
        drafts.clear();
        for (Thread one : presses)
            drafts.put(new Draft(-1, "", List.of()));
        for (Thread one : presses)
            one.join();
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
                units.sum(), busy.sum() / 1e9, looking.sum() / 1e9));
    }
}
