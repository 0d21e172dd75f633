import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Hashtable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.naming.NameNotFoundException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.DirContext;
import javax.naming.directory.InitialDirContext;

/** Routes the night's observations to the observatories that asked for them. */
public class @{Class} {
    record Observation(int dome, double ra, double dec, double magnitude) {
        static Observation of(int number) {
            double t = number * 0.618034;
            return new Observation(number, t * 24 % 24, Math.toDegrees(Math.asin(t % 2 - 1)), 6 + t * 3 % 12);
        }
    }

    private final DirContext names;
    private final Map<String, List<String>> routes = new TreeMap<>();
    private long asked;

    @{Class}(String servers) throws NamingException {
        Hashtable<String, String> environment = new Hashtable<>();
        environment.put("java.naming.factory.initial", "com.sun.jndi.dns.DnsContextFactory");
        environment.put("java.naming.provider.url", Stream.of(servers.split(" ")).map(one -> "dns://" + one).collect(Collectors.joining(" ")));
        environment.put("com.sun.jndi.dns.timeout.initial", "@{wait_ms}");
        environment.put("com.sun.jndi.dns.timeout.retries", "3");
        names = new InitialDirContext(environment);
    }

    private String @{fnCamel}(String host) throws NamingException {
        long start = System.nanoTime();
        try {
            Attribute found = names.getAttributes(host, new String[] {"A"}).get("A");
            return found == null ? "" : found.get().toString();
        } catch (NameNotFoundException e) {
            return "";
        } finally {
            asked += System.nanoTime() - start;
        }
    }

    private static String sign(Observation o) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] sum = digest.digest(o.toString().getBytes());
        for (int i = 0; i < @{rounds} * 5; i++) {
            sum = digest.digest(sum);
        }
        return HexFormat.of().formatHex(sum, 0, 8);
    }

    private void route(Observation o) throws Exception {
        String signature = sign(o);
        String where = @{fnCamel}("dome" + o.dome() + ".@{zone}");
        routes.computeIfAbsent(where, key -> new ArrayList<>()).add(signature);
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} post = new @{Class}("@{servers}");
        BlockingQueue<Observation> night = new ArrayBlockingQueue<>(1);
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        Thread telescope = new Thread(() -> {
            try {
                for (int number = 0;; number++) {
                    night.put(Observation.of(number));
                    Thread.sleep(1000 / @{rate});
                }
            } catch (InterruptedException e) {
                // The night is over.
            }
        }, "telescope");
        telescope.setDaemon(true);
        telescope.start();
        long busy = 0;
        int units = 0;
        while (System.nanoTime() < end) {
            Observation o = night.take();
            long start = System.nanoTime();
            post.route(o);
            units++;
            busy += System.nanoTime() - start;
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, post.asked / 1e9));
    }
}
