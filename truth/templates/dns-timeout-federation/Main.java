import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.naming.Context;
import javax.naming.NamingEnumeration;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;

/** Delivers chat messages to other domains: where each of them takes them is asked of the name servers. */
public class @{Class} {
    static final String[] SRV = {"SRV"};
    static final Hashtable<String, String> NAMES = new Hashtable<>(Map.of(
        Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory",
        Context.PROVIDER_URL, "dns://@{ns} dns://@{second}",
        "com.sun.jndi.dns.timeout.initial", String.valueOf(Math.round(@{patience} * 1000)),
        "com.sun.jndi.dns.timeout.retries", "2"));

    final AtomicInteger units = new AtomicInteger();
    final LongAdder busy = new LongAdder();
    final LongAdder looking = new LongAdder();
    final Map<String, String> outbox = new ConcurrentHashMap<>();

    static List<String> @{fnCamel}(String domain) {
        List<String> routes = new ArrayList<>();
        try {
            InitialDirContext context = new InitialDirContext(NAMES);
            try {
                Attribute found = context.getAttributes("_xmpp-server._tcp." + domain, SRV).get("SRV");
                if (found != null) {
                    for (NamingEnumeration<?> all = found.getAll(); all.hasMore();) routes.add((String) all.next());
                }
            } finally {
                context.close();
            }
        } catch (NamingException unknown) {
            return routes;
        }
        routes.sort(null);
        return routes;
    }

    void deliver(int number) {
        long start = System.nanoTime();
        String domain = "d" + number + ".@{zone}";
        List<String> routes = @{fnCamel}(domain);
        looking.add(System.nanoTime() - start);
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec("federation".getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
            String stanza = "<message to='user@" + domain + "'><body>" + number + "</body></message>";
            byte[] sum = mac.doFinal(stanza.getBytes(StandardCharsets.UTF_8));
            outbox.merge(routes.isEmpty() ? "bounced" : routes.get(0).split(" ")[3], sum.length + ";", String::concat);
        } catch (GeneralSecurityException wrong) {
            throw new IllegalStateException(wrong);
        }
        units.incrementAndGet();
        busy.add(System.nanoTime() - start);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        @{Class} app = new @{Class}();
        ExecutorService deliverers = Executors.newFixedThreadPool(@{deliverers});
        Semaphore room = new Semaphore(@{deliverers});
        long began = System.nanoTime();
        for (int number = 1; System.nanoTime() - began < @{seconds} * 1e9; number++) {
            if (room.tryAcquire(200, TimeUnit.MILLISECONDS)) {
                int one = number;
                deliverers.execute(() -> {
                    try {
                        app.deliver(one);
                    } finally {
                        room.release();
                    }
                });
            }
            long rest = began + number * 1_000_000_000L / @{rate} - System.nanoTime();
            if (rest > 0) TimeUnit.NANOSECONDS.sleep(rest);
        }
        deliverers.shutdown();
        deliverers.awaitTermination(10, TimeUnit.SECONDS);
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", app.units.get(), app.busy.sum() / 1e9, app.looking.sum() / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
