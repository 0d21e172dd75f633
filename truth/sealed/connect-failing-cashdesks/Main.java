import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.security.MessageDigest;
import java.util.*;

/** The till of a department store: prices what was bought, has the receipt signed, and keeps the totals of each desk. */
public class @{Class} {
    static class Desk {
        long total;
        int unsigned, receipts;
    }

    private final Desk[] desks = new Desk[@{desks}];
    private final List<SocketAddress> signers = List.of(UnixDomainSocketAddress.of("@{work}/@{first}"), UnixDomainSocketAddress.of("@{work}/@{signer}"));
    private double waited;
    private String trouble;

    static double now() {
        return System.nanoTime() / 1e9;
    }

    SocketChannel @{fnCamel}() {
        double start = now();
        try {
            while (now() - start < @{patience_ms} / 1000.0)
                for (SocketAddress signer : signers)
                    try {
                        return SocketChannel.open(signer);
                    } catch (IOException error) {
                        trouble = signer + ": " + error.getMessage();
                    }
            return null;
        } finally {
            waited += now() - start;
        }
    }

    String sign(String text) throws Exception {
        try (SocketChannel line = @{fnCamel}()) {
            if (line == null)
                return null;
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            line.write(ByteBuffer.wrap((HexFormat.of().formatHex(digest) + "\n").getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer seal = ByteBuffer.allocate(65);
            while (seal.hasRemaining() && line.read(seal) > 0);
            return new String(seal.array(), 0, 64, StandardCharsets.US_ASCII);
        }
    }

    String sell(int number) throws Exception {
        Desk desk = desks[number % desks.length];
        StringBuilder receipt = new StringBuilder();
        long sum = 0;
        for (int item = 0; item < @{lines}; item++) {
            int article = (number * 31 + item * 17) % 4000, many = 1 + (number + item) % 3, price = 99 + article * 7 % 5000;
            sum += (long) price * many;
            receipt.append(String.format("%04d %2d x %7.2f%n", article, many, price / 100.0));
        }
        receipt.append(String.format("total %.2f, of it tax %.2f%n", sum / 100.0, sum * 19 / 11900.0));
        String seal = sign(receipt.toString());
        if (seal == null)
            desk.unsigned++;
        desk.total += sum;
        desk.receipts++;
        return receipt + (seal == null ? "SIGNER NOT AVAILABLE" : seal) + "\n";
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} till = new @{Class}();
        Arrays.setAll(till.desks, i -> new Desk());
        double began = now(), busy = 0;
        int units = 0;
        long length = 0;
        while (now() - began < @{seconds}) {
            double start = now();
            length += till.sell(units++).length();
            busy += now() - start;
            double rest = began + units / (double) @{rate} - now();
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        if (till.trouble != null)
            System.err.println("signer: " + till.trouble);
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, till.waited));
    }
}
