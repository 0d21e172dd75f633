import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Books transfers between accounts with a pool of tellers. */
public class @{Class} {
    static final class Account {
        final int number;
        long balance = 10_000;

        Account(int number) {
            this.number = number;
        }
    }

    private static final AtomicLong booked = new AtomicLong();
    private static volatile double check;

    private static void audit(Account account) throws InterruptedException {
        Thread.sleep((long) Math.ceil(@{nap}));
        long start = System.nanoTime();
        while (System.nanoTime() - start < @{inside} * 1e6)
            check += Math.sqrt(account.balance);
    }

    private static void @{fnCamel}(Account from, Account to, long amount) throws InterruptedException {
        boolean swap = @{order} == 1 && from.number > to.number;
        Account first = swap ? to : from, second = swap ? from : to;
        synchronized (first) {
            audit(first);
            synchronized (second) {
                from.balance -= amount;
                to.balance += amount;
                booked.incrementAndGet();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Account[] accounts = {new Account(1), new Account(2), new Account(3)};
        int[][] routes = {{0, 1}, {1, 2}, {2, 0}};
        ExecutorService tellers = Executors.newFixedThreadPool(3);
        long began = System.nanoTime();
        for (int[] route : routes)
            tellers.submit(() -> {
                while (true) {
                    @{fnCamel}(accounts[route[0]], accounts[route[1]], ThreadLocalRandom.current().nextInt(1, 50));
                    Thread.sleep((long) (@{gap} * 5));
                }
            });
        Thread.sleep((long) (@{seconds} * 1000));
        Files.writeString(Path.of("@{report}"),
                String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", booked.get(), (System.nanoTime() - began) / 1e9));
        Runtime.getRuntime().halt(0);
    }
}
