import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Packs orders of seeds into crates, by several packers, and keeps the stock of the sorts. */
public class @{Class} {
    record Bag(int sort, int grams) {}

    static final class Card {
        private final ReentrantLock @{card} = new ReentrantLock(true);
        private final Condition low = @{card}.newCondition();
        private final Map<Integer, Long> left = new HashMap<>();
        private long refilled;

        Card() {
            for (int sort = 0; sort < @{sorts}; sort++)
                left.put(sort, 50_000L);
        }

        /** Takes so many grams of each of these sorts from the stock. */
        void @{fnCamel}(List<Bag> wishes, Packer packer) {
            long asked = System.nanoTime();
            @{card}.lock();
            packer.waited += System.nanoTime() - asked;
            for (Bag bag : wishes) {
                long rest = left.merge(bag.sort(), (long) -bag.grams(), Long::sum);
                if (rest < 0) {
                    left.put(bag.sort(), rest + 50_000);
                    refilled++;
                    low.signal();
                }
            }
            asked = System.nanoTime();
            @{card}.unlock();
            packer.waited += System.nanoTime() - asked;
        }

        /** The buyer looks at the stock when a sort was filled up. */
        void buy() throws InterruptedException {
            while (true) {
                @{card}.lock();
                try {
                    low.await();
                } finally {
                    @{card}.unlock();
                }
                Thread.sleep(200);
            }
        }
    }

    static final class Packer extends Thread {
        private final int number;
        private final Card card;
        private final long began;
        long crates, busy, waited, check;

        Packer(int number, Card card, long began) {
            super("packer-" + number);
            this.number = number;
            this.card = card;
            this.began = began;
        }

        private long label(long order, Bag bag) {
            byte[] text = ("Order " + order + "  sort " + bag.sort() + "  " + bag.grams() + " g  sow from March").getBytes(StandardCharsets.US_ASCII);
            long sum = order;
            for (int round = 0; round < @{effort} * 8; round++)
                for (byte letter : text)
                    sum = sum * 31 + letter + round;
            return sum;
        }

        void crate(long order) {
            List<Bag> bags = new ArrayList<>();
            for (int i = 0; i < @{bags}; i++) {
                Bag bag = new Bag((int) ((order * 7919 + i * 104_729L) % @{sorts}), (int) (5 + (order + i) % 40));
                if (@{each} == 1)
                    card.@{fnCamel}(List.of(bag), this);
                else
                    bags.add(bag);
                check ^= label(order, bag);
            }
            if (!bags.isEmpty())
                card.@{fnCamel}(bags, this);
        }

        @Override
        public void run() {
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                crate(crates * @{packers} + number);
                crates++;
                busy += System.nanoTime() - start;
                double due = (crates + number / (double) @{packers}) / @{rate};
                long rest = (long) (due * 1e9) - (System.nanoTime() - began);
                try {
                    if (rest > 0)
                        Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Card card = new Card();
        // Not the first hour of the day: all has been called often.
        Packer trial = new Packer(0, card, 0);
        for (int i = 0; i < 20_000 / @{bags} + 1; i++)
            trial.crate(i);
        Thread buyer = new Thread(() -> {
            try {
                card.buy();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "buyer");
        buyer.setDaemon(true);
        buyer.start();
        long began = System.nanoTime();
        List<Packer> packers = new ArrayList<>();
        for (int number = 0; number < @{packers}; number++)
            packers.add(new Packer(number, card, began));
        packers.forEach(Thread::start);
        long units = 0, busy = 0, waited = 0, check = trial.check;
        for (Packer packer : packers) {
            packer.join();
            units += packer.crates;
            busy += packer.busy;
            waited += packer.waited;
            check ^= packer.check;
        }
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, waited / 1e9);
        Files.writeString(Path.of("@{report}"), report);
        System.out.println(check);
    }
}
