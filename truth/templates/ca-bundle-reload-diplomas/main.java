import java.io.BufferedInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.x500.X500Principal;

/** Checks the seals of journeymen's letters for the chamber of crafts. */
public class @{Class} {
    static Map<X500Principal, X509Certificate> authorities;
    static long served, spent;
    static CertificateFactory factory;

    static Map<X500Principal, X509Certificate> @{fnCamel}() throws Exception {
        long start = System.nanoTime();
        if (served++ % @{fresh} == 0) {
            authorities = new HashMap<>();
            try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of("@{work}/@{bundle}")), 65536)) {
                for (var found : factory.generateCertificates(in)) {
                    X509Certificate authority = (X509Certificate) found;
                    authorities.put(authority.getSubjectX500Principal(), authority);
                }
            }
        }
        spent += System.nanoTime() - start;
        return authorities;
    }

    static void check(Path seal) throws Exception {
        X509Certificate certificate;
        try (InputStream in = Files.newInputStream(seal)) {
            certificate = (X509Certificate) factory.generateCertificate(in);
        }
        X509Certificate authority = @{fnCamel}().get(certificate.getIssuerX500Principal());
        if (authority == null) throw new IllegalStateException("nobody knows this seal");
        certificate.verify(authority.getPublicKey());
    }

    public static void main(String[] words) throws Exception {
        factory = CertificateFactory.getInstance("X.509");
        Path seal = Path.of("@{work}/seal.pem");
        Map<String, Integer> crafts = new HashMap<>();
        long units = 0, busy = 0, end = System.nanoTime() + (long) (@{seconds} * 1e9);
        for (long start; (start = System.nanoTime()) < end; ) {
            check(seal);
            for (int page = 0; page < @{pages}; page++) crafts.merge("craft " + (units + page) % 12, 1, Integer::sum);
            units++;
            long took = System.nanoTime() - start;
            busy += took;
            long rest = (long) (1e9 / @{per_s}) - took;
            if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        }
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + spent / 1e9 + "}");
    }
}
