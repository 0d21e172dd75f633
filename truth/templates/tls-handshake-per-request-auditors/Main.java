import java.io.*;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.*;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

/** Forwards the audit trail of a dispensary to the collector of the hospital. */
public class @{Class} {
    private final SSLContext context;
    private SSLSocket line;
    private BufferedReader answers;
    private double spent;
    private byte[] last = new byte[0];
    private int number;

    @{Class}() throws Exception {
        KeyStore known = KeyStore.getInstance(KeyStore.getDefaultType());
        known.load(null, null);
        try (InputStream pem = Files.newInputStream(Path.of("@{work}/trail.pem"))) {
            known.setCertificateEntry("collector", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
    }

    static double clock() {
        return System.nanoTime() / 1e9;
    }

    /** The entries are chained: each has the digest of those before it. */
    String entry() throws GeneralSecurityException {
        number++;
        String text = "<110>1 drawer=" + number % 40 + " nurse=" + number % 17 + " drug=" + number * 7919L % 100000 + " amount=" + (1 + number % 4);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < @{seal}; i++) {
            digest.update(last);
            last = digest.digest(text.getBytes(StandardCharsets.UTF_8));
        }
        return text + " host=disp@{host_id} seal=" + Long.toHexString(java.nio.ByteBuffer.wrap(last).getLong()) + "\n";
    }

    void @{fnCamel}() throws IOException {
        double start = clock();
        Socket plain = new Socket("127.0.0.1", @{port});
        plain.setTcpNoDelay(true);
        line = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", @{port}, true);
        line.startHandshake();
        answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
        spent += clock() - start;
    }

    void send(String frame, int entries) throws IOException {
        if (line == null)
            @{fnCamel}();
        line.getOutputStream().write((frame.length() + " " + frame).getBytes(StandardCharsets.US_ASCII));
        String answer = answers.readLine();
        if (!("OK " + entries).equals(answer))
            throw new IOException("collector says " + answer);
        if ("@{keep}".equals("no")) {
            line.close();
            line = null;
        }
    }

    public static void main(String[] arguments) throws Exception {
        // Each session stands for itself: the collector's farm shares no tickets.
        System.setProperty("jdk.tls.client.enableSessionTicketExtension", "false");
        @{Class} forwarder = new @{Class}();
        // Is the collector there at all?
        for (int i = 0; i < 3; i++)
            forwarder.send(forwarder.entry(), 1);
        forwarder.spent = 0;
        double began = clock(), busy = 0;
        long units = 0;
        while (clock() - began < @{seconds}) {
            double start = clock();
            StringBuilder frame = new StringBuilder();
            for (int i = 0; i < @{entries}; i++)
                frame.append(forwarder.entry());
            forwarder.send(frame.toString(), @{entries});
            units++;
            busy += clock() - start;
            double rest = began + units / (double) @{rate} - clock();
            if (rest > 0)
                Thread.sleep((long) (rest * 1000), (int) (rest * 1e9 % 1e6));
        }
        Files.writeString(Path.of("@{report}"),
            String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, forwarder.spent));
    }
}
