// A box office: the best seat that is left in a concert's hall, and a ticket for it that the door can check.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

public class @{Class} {
    static final int ROWS = @{rows}, SEATS = 24;
    // The halls are shown in halves of a seat.
    static final int FINE = 2;

    static class Concert {
        final String name, phrase;
        final int cents;
        final BitSet taken = new BitSet();
        volatile SecretKeySpec key;
        volatile long since;

        Concert(String[] row) {
            name = row[0];
            phrase = row[1];
            cents = 2500 + Integer.parseInt(row[2]);
        }

        SecretKeySpec @{fnCamel}() throws GeneralSecurityException {
            SecretKeyFactory factory = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256");
            byte[] salt = name.getBytes(StandardCharsets.UTF_8);
            return new SecretKeySpec(factory.generateSecret(new PBEKeySpec(phrase.toCharArray(), salt, @{rounds}, 256)).getEncoded(), "HmacSHA256");
        }

        String seal(String text) throws GeneralSecurityException {
            SecretKeySpec now = key;
            if (now == null || (System.nanoTime() - since) / 1e9 >= @{kept}) {
                now = @{fnCamel}();
                key = now;
                since = System.nanoTime();
            }
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(now);
            byte[] plain = text.getBytes(StandardCharsets.UTF_8), sealed = Arrays.copyOf(plain, plain.length + 16);
            System.arraycopy(mac.doFinal(plain), 0, sealed, plain.length, 16);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(sealed);
        }

        // The free seat with the best view: near the middle, not too near the front.
        synchronized int best(int wish) {
            int best = 0;
            double most = -1e9;
            for (int row = 0; row < ROWS * FINE; row++) {
                for (int seat = 0; seat < SEATS * FINE; seat++) {
                    int place = row / FINE * SEATS + seat / FINE;
                    double worth = -Math.abs(row - ROWS * FINE * 0.35) - Math.abs(seat - SEATS * FINE / 2) * 0.4 - Math.sin(wish + row * seat) * 2;
                    if (worth > most && !taken.get(place)) {
                        most = worth;
                        best = place;
                    }
                }
            }
            taken.set(best);
            if (taken.cardinality() > ROWS * SEATS * 0.8) taken.clear();
            return best;
        }

        String ticket(int number) throws GeneralSecurityException {
            int place = best(number);
            return seal(name + "|" + number + "|" + (place / SEATS + 1) + "|" + (place % SEATS + 1) + "|" + cents);
        }
    }

    static void serve(Socket fan, List<Concert> concerts) {
        try (fan; BufferedReader in = new BufferedReader(new InputStreamReader(fan.getInputStream()))) {
            fan.setTcpNoDelay(true);
            for (String line; (line = in.readLine()) != null; ) {
                int number = Integer.parseInt(line.substring("ticket ".length()));
                fan.getOutputStream().write((concerts.get(number % concerts.size()).ticket(number) + "\n").getBytes());
            }
        } catch (IOException | GeneralSecurityException | NumberFormatException e) {
            System.err.println("fan: " + e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        List<Concert> concerts = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("@{season}"))) concerts.add(new Concert(line.split(";")));
        ExecutorService windows = Executors.newFixedThreadPool(8);
        ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket fan = door.accept();
            windows.submit(() -> serve(fan, concerts));
        }
    }
}
