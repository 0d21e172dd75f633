import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.IntConsumer;

/** A portal of public tenders. */
public class @{Class} {
    record Buyer(String town) { }

    static final class Lot {
        final Buyer buyer;
        final Lot needs;
        final Long number;
        long cents;

        Lot(int tender, int i, Lot needs) {
            this.buyer = new Buyer("t" + (tender + i) % 97);
            this.needs = needs;
            this.number = 1000L + tender * 31L + i;
            this.cents = tender * 7919L + i * i * 37L;
        }
    }

    /** Holds what a bidder looks at, and hears of its changes. */
    record Watcher(int bidder, List<Lot> lots, IntConsumer changed) { }

    static final Deque<Watcher> watchers = new ArrayDeque<>();
    static int changes;

    static Watcher @{fnCamel}(int bidder) {
        List<Lot> lots = new ArrayList<>(@{lots});
        for (int i = 0; i < @{lots}; i++) {
            lots.add(new Lot(bidder, i, i == 0 ? null : lots.get(i / 2)));
        }
        Watcher watcher = new Watcher(bidder, lots, change -> lots.get(change % lots.size()).cents++);
        watchers.addLast(watcher);
        if (watchers.size() > @{most}) {
            watchers.removeFirst();
        }
        return watcher;
    }

    record Offer(String name, long score) { }

    static String best(Watcher watcher) {
        List<Offer> offers = new ArrayList<>(@{bids});
        for (int i = 0; i < @{bids}; i++) {
            Lot lot = watcher.lots.get(i * 7 % @{lots});
            long score = lot.cents % (i + 11) + (lot.needs == null ? 0 : lot.needs.cents % 13);
            offers.add(new Offer("lot " + lot.number + " for " + lot.buyer.town + ", variant " + i, score));
        }
        offers.sort(Comparator.comparingLong(Offer::score).reversed());
        return offers.get(0).name + "; " + offers.get(1).name;
    }

    static synchronized String bid(int number) {
        Watcher watcher = null;
        for (int i = 0; i < 6; i++) {
            watcher = @{fnCamel}(number * 6 + i);
        }
        watcher.changed.accept(++changes);
        return best(watcher);
    }

    static void talk(Socket bidder) {
        try (bidder) {
            bidder.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(bidder.getInputStream()));
            OutputStream out = bidder.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                out.write((bid(Integer.parseInt(line.substring(4))) + "\n").getBytes());
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        for (int i = 0; i < @{start}; i++) {
            @{fnCamel}(i);
        }
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket bidder = door.accept();
                new Thread(() -> talk(bidder)).start();
            }
        }
    }
}
