import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;

/** Brings the bookings of a day to the ledger of the holding, which signs each of them. */
public class @{Class} {
    record Entry(String account, String text, long cents) {}

    record Booking(String number, List<Entry> entries) {}

    static final class Ledger implements AutoCloseable {
        private final Socket line;
        private final BufferedReader answers;
        private final OutputStream commands;

        Ledger(int port) throws IOException {
            line = new Socket("127.0.0.1", port);
            line.setTcpNoDelay(true);
            answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
            commands = line.getOutputStream();
        }

        private String command(String text) throws IOException {
            commands.write((text + "\n").getBytes(StandardCharsets.US_ASCII));
            String answer = answers.readLine();
            if (answer == null || !answer.startsWith("OK "))
                throw new IOException("the ledger says " + answer);
            return answer.substring(3);
        }

        String @{fnCamel}(Booking booking) throws IOException {
            if (@{whole} == 1) {
                StringBuilder all = new StringBuilder("RECEIPT ").append(booking.number());
                for (Entry entry : booking.entries())
                    all.append('|').append(entry.account()).append(' ').append(entry.text()).append(' ').append(entry.cents());
                return command(all.toString());
            }
            command("OPEN " + booking.number());
            for (Entry entry : booking.entries()) {
                command("ACCOUNT " + entry.account());
                command("TEXT " + entry.text());
                command("AMOUNT " + entry.cents());
            }
            return command("CLOSE");
        }

        @Override
        public void close() throws IOException {
            line.close();
        }
    }

    private static Booking booking(long day, int number) {
        Random chance = new Random(day * 1000 + number);
        List<Entry> entries = new ArrayList<>();
        long open = 0;
        for (int i = 1; i < @{lines}; i++) {
            long cents = chance.nextInt(900_000) - 300_000;
            entries.add(new Entry("4" + (100 + chance.nextInt(800)), "invoice " + chance.nextInt(99_999), cents));
            open += cents;
        }
        entries.add(new Entry("1200", "balance", -open));
        return new Booking(day + "/" + number, entries);
    }

    /** All entries of a booking are zero in sum, in each of the currencies. */
    private static long check(Booking booking) {
        CRC32 sum = new CRC32();
        for (int round = 0; round < @{rounds}; round++) {
            long open = 0;
            for (Entry entry : booking.entries()) {
                open += entry.cents() * (round + 1);
                sum.update((entry.account() + entry.text() + open).getBytes(StandardCharsets.US_ASCII));
            }
            if (open != 0)
                throw new IllegalStateException(booking.number());
        }
        return sum.getValue();
    }

    public static void main(String[] arguments) throws Exception {
        long units = 0, sum = 0;
        double busy = 0, culprit = 0;
        long began = System.nanoTime();
        try (Ledger ledger = new Ledger(@{device})) {
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                for (int i = 0; i < @{receipts}; i++) {
                    Booking booking = booking(units, i);
                    sum ^= check(booking);
                    long asked = System.nanoTime();
                    sum += ledger.@{fnCamel}(booking).length();
                    culprit += (System.nanoTime() - asked) / 1e9;
                }
                units++;
                busy += (System.nanoTime() - start) / 1e9;
                long rest = began + (long) (units / @{rate} * 1e9) - System.nanoTime();
                if (rest > 0)
                    Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        }
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
        Files.writeString(Path.of("@{report}"), report);
        System.out.println(sum);
    }
}
