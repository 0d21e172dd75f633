import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;

/** Fetches the counts of parking machines: each is dialled in its turn, tells what it has sold, and is left. */
public class @{Class} {
    private final LongAdder busy = new LongAdder();
    private final LongAdder spent = new LongAdder();
    private final LongAdder units = new LongAdder();
    private final Map<Integer, Long> takings = new ConcurrentHashMap<>();
    private final PrintWriter log;

    @{Class}(PrintWriter log) {
        this.log = log;
    }

    private Socket @{fnCamel}(int machine, int port) throws IOException {
        Socket line = new Socket();
        line.setTcpNoDelay(true);
        line.setSoTimeout(20_000);
        line.connect(new InetSocketAddress("127.@{a}.@{b}." + (1 + machine % @{meters}), port), 30_000);
        return line;
    }

    private static int[] parse(String answer) throws IOException {
        String[] words = answer == null ? new String[] {"nothing"} : answer.split(" ");
        if (!words[0].equals("values")) {
            throw new IOException("the machine says " + words[0]);
        }
        int[] values = new int[words.length - 1];
        for (int i = 0; i < values.length; i++) {
            values[i] = Integer.parseInt(words[i + 1]);
        }
        return values;
    }

    /** Coins that were counted twice are found by their sum with the ones before. */
    private static long checked(int[] values) {
        long sum = 0;
        for (int round = 0; round < @{effort} * 10; round++) {
            for (int i = 0; i < values.length; i++) {
                sum = sum * 31 + values[i] * (round + 1L) % 97;
            }
        }
        return Math.abs(sum % 100_000);
    }

    private void fetch(int machine) throws IOException {
        long start = System.nanoTime();
        try (Socket line = @{fnCamel}(machine, @{door})) {
            spent.add(System.nanoTime() - start);
            line.getOutputStream().write(("sold " + machine + "\n").getBytes());
            BufferedReader in = new BufferedReader(new InputStreamReader(line.getInputStream()));
            long sum = checked(parse(in.readLine()));
            takings.merge(machine % @{meters}, sum, Long::sum);
            log.printf("machine %d: %d%n", machine, sum);
        }
        busy.add(System.nanoTime() - start);
        units.increment();
    }

    private Void round(int first, long end) throws Exception {
        double gap = 1e9 / @{rate};
        double due = System.nanoTime();
        for (int machine = first; System.nanoTime() < end; machine += @{workers}) {
            due = Math.max(due + gap, System.nanoTime());
            Thread.sleep((long) Math.max(0, (due - System.nanoTime()) / 1e6));
            fetch(machine);
        }
        return null;
    }

    /** The second lines are only used when the first one fails; whether they would is of interest before. */
    private void probe() {
        for (int machine = 0; ; machine++) {
            try (Socket line = @{fnCamel}(machine, @{spare})) {
                log.printf("second line of %d: %s%n", machine, line.isConnected());
                Thread.sleep(400);
            } catch (IOException | InterruptedException error) {
                log.printf("second line of %d: %s%n", machine, error);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} all = new @{Class}(new PrintWriter(Files.newBufferedWriter(Path.of("@{work}/machines.log")), true));
        Thread probing = new Thread(all::probe, "second-lines");
        probing.setDaemon(true);
        probing.start();
        ExecutorService pool = Executors.newFixedThreadPool(@{workers});
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        List<Future<Void>> rounds = new ArrayList<>();
        for (int i = 0; i < @{workers}; i++) {
            int first = i;
            rounds.add(pool.submit(() -> all.round(first, end)));
        }
        for (Future<Void> round : rounds) {
            round.get();
        }
        pool.shutdown();
        String report = String.format("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}",
                all.units.sum(), all.busy.sum() / 1e9, all.spent.sum() / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
