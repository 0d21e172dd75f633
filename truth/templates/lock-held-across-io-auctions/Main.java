import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;

/** A sale of wine: bids come in by lines, and a protocol goes to the notary. */
public class @{Class} {
    private static final String[] REGIONS = {"Mosel", "Rioja", "Douro", "Wachau", "Piemont", "Chablis"};

    private static final class Lot {
        final String title;
        long bid;
        long bidder;
        int bids;

        Lot(String title, long bid) {
            this.title = title;
            this.bid = bid;
        }
    }

    private final ReentrantLock @{lock} = new ReentrantLock();
    private final List<Lot> lots = new ArrayList<>();
    private final OutputStream protocol;
    private long taken;

    @{Class}(OutputStream protocol) {
        this.protocol = protocol;
        for (int n = 0; n < @{lots}; n++) {
            lots.add(new Lot(REGIONS[n % REGIONS.length] + " " + (1950 + n * 7 % 70) + ", " + (1 + n % 24) + " bottles", 60 + n * 31 % 700));
        }
    }

    private static long step(long bid) {
        return bid < 100 ? 5 : bid < 500 ? 20 : bid < 2000 ? 50 : 200;
    }

    private String bid(int number, long bidder) {
        @{lock}.lock();
        try {
            Lot lot = lots.get(number % lots.size());
            lot.bid += step(lot.bid);
            lot.bidder = bidder;
            lot.bids++;
            taken++;
            return "taken " + lot.bid + " the " + lot.bids + "th\n";
        } finally {
            @{lock}.unlock();
        }
    }

    private byte[] text() {
        StringBuilder text = new StringBuilder(lots.size() * 80).append(taken).append(" bids taken\n");
        for (int n = 0; n < lots.size(); n++) {
            Lot lot = lots.get(n);
            text.append("lot ").append(n).append(' ').append(lot.title).append(" ".repeat(Math.max(1, 40 - lot.title.length())));
            text.append(lot.bid).append(" by ").append(String.format("%016x", lot.bidder)).append('\n');
        }
        return text.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private void @{fnCamel}() throws IOException {
        byte[] text;
        @{lock}.lock();
        try {
            text = text();
            if (@{inside} == 1) {
                protocol.write(text);
            }
        } finally {
            @{lock}.unlock();
        }
        if (@{inside} == 0) {
            protocol.write(text);
        }
    }

    private void keep() {
        try {
            while (true) {
                Thread.sleep((long) @{pause}, (int) (@{pause} % 1 * 1e6));
                @{fnCamel}();
            }
        } catch (IOException | InterruptedException error) {
            System.err.println("protocol: " + error);
        }
    }

    private static long paddle(String name) {
        CRC32 known = new CRC32();
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        for (int round = 0; round < @{rounds} * 300; round++) {
            known.update(bytes);
            known.update(round);
        }
        return known.getValue() * 2654435761L;
    }

    private void serve(Socket bidder) {
        try (bidder; BufferedReader lines = new BufferedReader(new InputStreamReader(bidder.getInputStream(), StandardCharsets.US_ASCII))) {
            bidder.setTcpNoDelay(true);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int number = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
                bidder.getOutputStream().write(bid(number * 37, paddle(line)).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException | NumberFormatException error) {
            System.err.println("bidder: " + error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} sale = new @{Class}(new FileOutputStream("@{work}/@{pipe}"));
        Thread clerk = new Thread(sale::keep, "clerk");
        clerk.setDaemon(true);
        clerk.start();
        ExecutorService hall = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket bidder = door.accept();
                hall.execute(() -> sale.serve(bidder));
            }
        }
    }
}
