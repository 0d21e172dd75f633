// Gateway of a chain of pharmacies: the counters ask by lines, the insurers' centre verifies.
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public class @{Class} {
    /** A question that the centre has not answered yet. */
    static class Question implements Delayed {
        final byte[] frame;
        final CompletableFuture<String> answer = new CompletableFuture<>();
        private double patience = @{patience};
        private long due;

        Question(int number, String text) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            frame = ByteBuffer.allocate(8 + body.length).putInt(body.length).putInt(number).put(body).array();
            due = System.nanoTime() + (long) (patience * 1e6);
        }

        void later() {
            patience *= @{growth};
            due = System.nanoTime() + (long) (patience * 1e6);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }
    }

    static class Centre {
        private final Socket line = new Socket(InetAddress.getLoopbackAddress(), @{centre});
        private final Map<Integer, Question> open = new ConcurrentHashMap<>();
        private final DelayQueue<Question> due = new DelayQueue<>();
        private final AtomicInteger last = new AtomicInteger();

        Centre() throws IOException {
            line.setTcpNoDelay(true);
            start("answers", this::read);
            start("reminder", this::remind);
        }

        private interface Work {
            void run() throws IOException, InterruptedException;
        }

        private static void start(String name, Work work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException | InterruptedException error) {
                    error.printStackTrace();
                    System.exit(1);
                }
            }, name);
            thread.setDaemon(true);
            thread.start();
        }

        private void read() throws IOException {
            DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(line.getInputStream()));
            while (true) {
                int length = in.readInt(), number = in.readInt();
                String text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
                Question asked = open.remove(number);
                if (asked == null) continue;
                due.remove(asked);
                asked.answer.complete(text);
            }
        }

        private synchronized void send(byte[] frame) throws IOException {
            line.getOutputStream().write(frame);
        }

        private void remind() throws IOException, InterruptedException {
            while (true) @{fnCamel}(due.take());
        }

        private void @{fnCamel}(Question asked) throws IOException {
            if (asked.answer.isDone()) return;
            asked.later();
            due.add(asked);
            send(asked.frame);
        }

        String ask(String text) throws IOException {
            int number = last.incrementAndGet();
            Question asked = new Question(number, text);
            open.put(number, asked);
            due.add(asked);
            send(asked.frame);
            return asked.answer.join();
        }

        void pulse() throws IOException, InterruptedException {
            while (true) {
                Thread.sleep((long) @{pulse});
                if (ask("pulse").isEmpty()) System.err.println("the centre says nothing");
            }
        }
    }

    static String prescription(int number) {
        StringBuilder text = new StringBuilder("insured ").append(number * 7919L % 999999937).append('\n');
        for (int line = 1; line <= @{lines}; line++) {
            text.append(line).append(" PZN-").append((long) number * line * 104729 % 99999989).append(' ').append(1 + number * line % 3).append('\n');
        }
        return text.toString();
    }

    static void serve(Socket counter, Centre centre) {
        try (counter; BufferedReader lines = new BufferedReader(new InputStreamReader(counter.getInputStream(), StandardCharsets.UTF_8))) {
            counter.setTcpNoDelay(true);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int number = Integer.parseInt(line.substring("verify ".length()));
                counter.getOutputStream().write((number + " " + centre.ask(prescription(number)) + "\n").getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException error) {
            System.err.println(error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        Centre centre = new Centre();
        if (@{pulse} > 0) Centre.start("pulse", centre::pulse);
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket counter = door.accept();
                new Thread(() -> serve(counter, centre)).start();
            }
        }
    }
}
