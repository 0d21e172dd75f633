import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** The raffle of a fair: tills sell tickets in step with the show's bell; no two tickets of a drum may be too alike. */
public class @{Class} {
    static class Drum {
        final ReentrantLock guard = new ReentrantLock();
        long[] tickets = new long[0];
        int next = 0;
    }

    static int alike(long one, long other) {
        int same = 0;
        for (long rest = ~(one ^ other); rest != 0; rest &= rest - 1)
            same++;
        return same;
    }

    static int closest(long[] tickets, long ticket) {
        int worst = 0;
        for (long other : tickets)
            worst = Math.max(worst, alike(ticket, other));
        return worst;
    }

    static class Till extends Thread {
        final Drum[] drums;
        final long began;
        long state, units, busy, waited;
        String last = "";

        Till(Drum[] drums, int number, long began) {
            super("till-" + number);
            this.drums = drums;
            this.began = began;
            state = 1000003L * (number + 1);
        }

        /** Books a ticket in its drum, if none there is too much like it. */
        boolean @{fnCamel}(Drum drum, long ticket) {
            long asked = System.nanoTime();
            drum.guard.lock();
            try {
                waited += System.nanoTime() - asked;
                int worst = closest(drum.tickets, ticket);
                drum.tickets[drum.next++ % drum.tickets.length] = ticket;
                return worst < 60;
            } finally {
                drum.guard.unlock();
            }
        }

        @Override
        public void run() {
            while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                long ticket = state = draw(state);
                Drum drum = drums[(int) Long.remainderUnsigned(ticket, drums.length)];
                StringBuilder text = new StringBuilder(@{fnCamel}(drum, ticket) ? "ticket" : "again");
                for (int word = 0; word < @{words}; word++)
                    text.append(' ').append(ticket >>> word);
                last = text.toString();
                units++;
                busy += System.nanoTime() - start;
                long due = began + (long) (units * @{tick} * 1e6);
                for (long rest; (rest = due - System.nanoTime()) > 0; )
                    LockSupport.parkNanos(rest);
            }
        }
    }

    static long draw(long state) {
        state ^= state << 13;
        state ^= state >>> 7;
        return state ^ state << 17;
    }

    static long[] tickets(int count) {
        long[] made = new long[count];
        long state = 88172645463325252L;
        for (int i = 0; i < count; i++)
            made[i] = state = draw(state);
        return made;
    }

    /** How many tickets can be looked at in a millisecond here. */
    static double speed() {
        long[] sample = tickets(4096);
        long best = Long.MAX_VALUE, sum = 0;
        for (int turn = 0; turn < 300; turn++) {
            long start = System.nanoTime();
            sum += closest(sample, sample[turn]);
            best = Math.min(best, System.nanoTime() - start);
        }
        return sample.length / (best / 1e6) + (sum == 1 ? 1 : 0);
    }

    public static void main(String[] args) throws Exception {
        Drum[] drums = new Drum[@{drums}];
        int each = (int) (speed() * @{look} / drums.length) + 1;
        for (int i = 0; i < drums.length; i++) {
            drums[i] = new Drum();
            drums[i].tickets = tickets(each);
        }
        Till[] tills = new Till[@{tills}];
        long began = System.nanoTime(), units = 0, busy = 0, waited = 0;
        for (int i = 0; i < tills.length; i++) {
            tills[i] = new Till(drums, i, began);
            tills[i].start();
        }
        for (Till till : tills) {
            till.join();
            units += till.units;
            busy += till.busy;
            waited += till.waited;
        }
        Files.writeString(Path.of("@{report}"),
            String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, waited / 1e9));
    }
}
