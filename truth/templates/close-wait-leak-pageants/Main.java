// The scoreboard of a pageant: asks the tally office for marks and keeps the ranking.
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class @{Class} {
    static final class Phone {
        final Socket socket;
        final BufferedReader in;
        int used;

        Phone() throws IOException {
            socket = new Socket();
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress("127.0.0.1", @{port}), 3000);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        }

        String ask(String text) throws IOException {
            used++;
            socket.getOutputStream().write((text + "\n").getBytes(StandardCharsets.US_ASCII));
            String answer = in.readLine();
            if (answer == null)
                throw new EOFException("the office has hung up");
            return answer;
        }
    }

    static final class Pool {
        private final Deque<Phone> free = new ConcurrentLinkedDeque<>();
        private final Queue<Phone> spent = new ConcurrentLinkedQueue<>();
        private final AtomicLong questions = new AtomicLong();

        Phone take() throws IOException {
            Phone one = free.pollFirst();
            return one != null ? one : new Phone();
        }

        void give(Phone one, boolean over) throws IOException {
            if (over)
                @{fnCamel}(one);
            else
                free.addFirst(one);
        }

        private void @{fnCamel}(Phone one) throws IOException {
            questions.addAndGet(one.used);
            if ("@{spent}".equals("close"))
                one.socket.close();
            else
                spent.add(one);
        }

        void sweep() {
            for (Phone one; (one = spent.poll()) != null;) {
                try {
                    one.socket.close();
                } catch (IOException e) {
                    System.err.println(e);
                }
            }
        }
    }

    static final class Board {
        private final Map<Integer, Integer> points = new HashMap<>();

        synchronized List<Integer> add(int act, int mark) {
            points.merge(act, mark, Integer::sum);
            List<Integer> order = new ArrayList<>(points.keySet());
            order.sort(Comparator.comparing(points::get).reversed());
            return order;
        }
    }

    public static void main(String[] args) throws Exception {
        Pool pool = new Pool();
        Board board = new Board();
        ScheduledExecutorService jurors = Executors.newScheduledThreadPool(@{lines} + 1);
        if ("@{spent}".equals("sweep"))
            jurors.scheduleWithFixedDelay(pool::sweep, 200, (long) (@{linger} * 1000), TimeUnit.MILLISECONDS);
        LongAdder units = new LongAdder(), busy = new LongAdder();
        for (int n = 0; n < @{lines}; n++) {
            int juror = n;
            AtomicInteger acts = new AtomicInteger();
            jurors.scheduleAtFixedRate(() -> {
                long start = System.nanoTime();
                int act = acts.getAndIncrement() % 40;
                try {
                    Phone one = pool.take();
                    String[] answer = one.ask("mark " + juror + " " + act).split(" ");
                    board.add(act, Integer.parseInt(answer[0]));
                    pool.give(one, answer[1].equals("bye"));
                } catch (IOException e) {
                    System.err.println(e);
                }
                units.increment();
                busy.add(System.nanoTime() - start);
            }, n * 5000L, (long) (1e6 * @{lines} / @{rate}), TimeUnit.MICROSECONDS);
        }
        Thread.sleep((long) (@{seconds} * 1000));
        jurors.shutdown();
        jurors.awaitTermination(2, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", units.sum(), busy.sum() / 1e9));
    }
}
