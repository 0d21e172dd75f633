import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.zip.CRC32;

/** Puts offers on the boards of several exchanges: each says how many it takes in a second, from the whole house. */
public class @{Class} {
    static final class Allowance {
        private final Semaphore @{gate} = new Semaphore(1, true);
        private long given;
        private double level;

        /** The number of the first of so many permits. */
        long @{fnCamel}(int many, Tally tally) throws InterruptedException {
            long asked = System.nanoTime();
            @{gate}.acquire();
            tally.waited += System.nanoTime() - asked;
            long first = given;
            given += many;
            for (int step = 0; step < 200; step++)
                level = level * 0.99 + many + step % 3;
            asked = System.nanoTime();
            @{gate}.release();
            tally.waited += System.nanoTime() - asked;
            return first;
        }
    }

    static final class Tally {
        long units, busy, waited, sum;
    }

    static final class Desk implements Callable<Tally> {
        private final int number;
        private final Allowance allowance;
        private final CRC32 check = new CRC32();
        private final long began;

        Desk(int number, Allowance allowance, long began) {
            this.number = number;
            this.allowance = allowance;
            this.began = began;
        }

        private long offer(long permit) {
            byte[] text = ("offer " + permit + " of desk " + number + ", valid until the evening").getBytes(StandardCharsets.US_ASCII);
            long sum = permit;
            for (int round = 0; round < @{effort}; round++) {
                check.reset();
                check.update(text);
                for (byte letter : text)
                    sum = (sum ^ letter + round) * 1099511628211L;
            }
            return sum ^ check.getValue();
        }

        private long list(Tally tally) throws InterruptedException {
            long sum = 0, first = @{each} == 1 ? 0 : allowance.@{fnCamel}(@{messages}, tally);
            for (int i = 0; i < @{messages}; i++)
                sum += offer(@{each} == 1 ? allowance.@{fnCamel}(1, tally) : first + i);
            return sum;
        }

        @Override
        public Tally call() throws InterruptedException {
            Tally tally = new Tally();
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                tally.sum += list(tally);
                tally.units++;
                tally.busy += System.nanoTime() - start;
                double due = (tally.units + number / (double) @{workers}) / @{rate};
                long rest = (long) (due * 1e9) - (System.nanoTime() - began);
                if (rest > 0)
                    Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
            return tally;
        }
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService desks = Executors.newFixedThreadPool(@{workers});
        Allowance allowance = new Allowance();
        // Not the first hour of the day: all has been called often.
        Desk trial = new Desk(0, allowance, 0);
        Tally none = new Tally();
        for (int i = 0; i < 12_000; i++)
            none.sum += trial.offer(allowance.@{fnCamel}(1, none));
        long began = System.nanoTime();
        List<Future<Tally>> tallies = new ArrayList<>();
        for (int number = 0; number < @{workers}; number++)
            tallies.add(desks.submit(new Desk(number, allowance, began)));
        Tally all = new Tally();
        for (Future<Tally> tally : tallies) {
            all.units += tally.get().units;
            all.busy += tally.get().busy;
            all.waited += tally.get().waited;
            all.sum ^= tally.get().sum;
        }
        desks.shutdown();
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy / 1e9, all.waited / 1e9);
        Files.writeString(Path.of("@{report}"), report);
        System.out.println(all.sum + none.sum);
    }
}
