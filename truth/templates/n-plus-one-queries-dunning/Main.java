import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The dunning run: reminds the customers of each district of what they owe. */
public class @{Class} {
    record Invoice(int customer, long number, int age, long cents) {
        static Invoice of(String row) {
            String[] fields = row.split("\t");
            return new Invoice(Integer.parseInt(fields[0]), Long.parseLong(fields[1]), Integer.parseInt(fields[2]), Long.parseLong(fields[3]));
        }

        /** Four in the hundred a year, from the thirtieth day on. */
        double owed() {
            double owed = cents;
            for (int day = 31; day <= age; day++)
                owed *= 1 + 0.04 / 365;
            return owed;
        }
    }

    static final class Ledger implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;

        Ledger(int port) throws IOException {
            socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        }

        List<String> rows(String statement) throws IOException {
            socket.getOutputStream().write((statement + "\n").getBytes());
            List<String> rows = new ArrayList<>();
            for (String row; (row = in.readLine()) != null && !row.isEmpty();) {
                if (row.equals("ERROR"))
                    throw new IOException("the ledger does not understand: " + statement);
                rows.add(row);
            }
            return rows;
        }

        List<Integer> customers(int district) throws IOException {
            return rows("SELECT id FROM customers WHERE district = " + district).stream().map(Integer::valueOf).collect(Collectors.toList());
        }

        List<Invoice> invoices(String condition) throws IOException {
            String statement = "SELECT customer, number, age, cents FROM invoices WHERE customer " + condition;
            return rows(statement).stream().map(Invoice::of).collect(Collectors.toList());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private final Ledger ledger;
    private final PrintWriter printer;
    private double selecting;

    @{Class}(Ledger ledger, PrintWriter printer) {
        this.ledger = ledger;
        this.printer = printer;
    }

    private Map<Integer, List<Invoice>> @{fnCamel}(List<Integer> customers) throws IOException {
        if ("@{select}".equals("all")) {
            String list = customers.stream().map(String::valueOf).collect(Collectors.joining(", "));
            return ledger.invoices("IN (" + list + ")").stream().collect(Collectors.groupingBy(Invoice::customer));
        }
        Map<Integer, List<Invoice>> open = new HashMap<>();
        for (int customer : customers)
            open.put(customer, ledger.invoices("= " + customer));
        return open;
    }

    private void letter(int customer, List<Invoice> invoices) {
        List<Invoice> late = invoices.stream().filter(one -> one.age() >= 14).sorted(Comparator.comparingInt(Invoice::age)).toList();
        if (late.isEmpty())
            return;
        printer.println("Dear customer " + customer + ",\nmay we remind you of");
        for (Invoice one : late)
            printer.printf(Locale.ROOT, "%-10d %4d days %10.2f%n", one.number(), one.age(), one.owed() / 100);
        printer.printf(Locale.ROOT, "%.2f in all%n%n", late.stream().mapToDouble(Invoice::owed).sum() / 100);
    }

    private void remind(int district) throws IOException {
        List<Integer> customers = ledger.customers(district);
        long asked = System.nanoTime();
        Map<Integer, List<Invoice>> open = @{fnCamel}(customers);
        selecting += (System.nanoTime() - asked) / 1e9;
        for (int customer : customers)
            letter(customer, open.getOrDefault(customer, List.of()));
    }

    public static void main(String[] arguments) throws Exception {
        try (Ledger ledger = new Ledger(@{ledger}); PrintWriter printer = new PrintWriter("@{work}/reminders.txt")) {
            // Once, so that all that is needed is loaded.
            @{Class} rehearsal = new @{Class}(ledger, new PrintWriter(Writer.nullWriter()));
            for (int i = 0; i < 800; i++)
                rehearsal.letter(i, List.of(new Invoice(i, i * 100L, 20 + i % 90, 1990), new Invoice(i, i * 100L + 1, 40, 2990)));
            @{Class} run = new @{Class}(ledger, printer);
            long began = System.nanoTime();
            int units = 0;
            double busy = 0;
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                long start = System.nanoTime();
                run.remind(units % 400);
                busy += (System.nanoTime() - start) / 1e9;
                units++;
                double rest = units / @{rate} - (System.nanoTime() - began) / 1e9;
                if (rest > 0)
                    Thread.sleep((long) (rest * 1000));
            }
            String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, run.selecting);
            Files.writeString(Path.of("@{report}"), text);
        }
    }
}
