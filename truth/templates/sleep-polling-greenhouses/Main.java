import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

/** The greenhouses' gateway: growers set vents and lamps by text, the controllers in the field speak over UDP. */
public class @{Class} {
    record Answer(int level, int celsius, long at) {}

    static class Field {
        final DatagramSocket line;
        final Map<Long, Answer> answers = new HashMap<>();
        final AtomicLong tickets = new AtomicLong();

        Field() throws IOException {
            line = new DatagramSocket();
            line.connect(new InetSocketAddress("127.0.0.1", @{field}));
            daemon("field", this::listen);
            if (@{tidies} == 1) daemon("tidy", this::tidy);
        }

        void listen() {
            DatagramPacket packet = new DatagramPacket(new byte[500], 500);
            while (true) {
                try {
                    packet.setLength(500);
                    line.receive(packet);
                } catch (IOException gone) {
                    continue;
                }
                String[] words = new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII).split(" ");
                synchronized (answers) {
                    answers.put(Long.parseLong(words[0]), new Answer(Integer.parseInt(words[3]), Integer.parseInt(words[4]), System.currentTimeMillis()));
                    answers.notifyAll();
                }
            }
        }

        void tidy() {
            while (true) {
                try {
                    Thread.sleep(@{tidy});
                } catch (InterruptedException end) {
                    return;
                }
                long oldest = System.currentTimeMillis() - 30_000;
                synchronized (answers) {
                    answers.values().removeIf(answer -> answer.at() < oldest);
                }
            }
        }

        long order(String verb, int bay, int level) throws IOException {
            long ticket = tickets.incrementAndGet();
            byte[] text = (ticket + " " + verb + " " + bay + " " + level).getBytes(StandardCharsets.US_ASCII);
            line.send(new DatagramPacket(text, text.length));
            return ticket;
        }

        Answer @{fnCamel}(long ticket) throws InterruptedException {
            if (@{asks} == 1) {
                while (true) {
                    synchronized (answers) {
                        Answer answer = answers.remove(ticket);
                        if (answer != null) return answer;
                    }
                    Thread.sleep(@{period});
                }
            }
            synchronized (answers) {
                while (!answers.containsKey(ticket)) answers.wait(5000);
                return answers.remove(ticket);
            }
        }
    }

    static final Map<Integer, ArrayDeque<Integer>> seen = new ConcurrentHashMap<>();

    static double note(int bay, int celsius) {
        ArrayDeque<Integer> last = seen.computeIfAbsent(bay, n -> new ArrayDeque<>());
        synchronized (last) {
            last.add(celsius);
            if (last.size() > 120) last.remove();
            return last.stream().mapToInt(Integer::intValue).average().orElse(0);
        }
    }

    static int wanted(int hour) {
        return (int) Math.round(4 * (16 + 6 * Math.sin((hour % 24 - 9) / 24.0 * 6.283)));
    }

    static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void serve(Socket client, Field field) {
        try (client) {
            client.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
            OutputStream out = client.getOutputStream();
            for (String ask; (ask = in.readLine()) != null; ) {
                String[] words = ask.trim().split(" ");
                int number = Integer.parseInt(words[1]), bay = number % @{bays};
                Answer answer = field.@{fnCamel}(field.order(words[0], bay, wanted(number)));
                out.write(String.format("ok %d %d %.1f%n", bay, answer.level(), note(bay, answer.celsius())).getBytes());
            }
        } catch (IOException | InterruptedException gone) {
            // The grower has hung up.
        }
    }

    public static void main(String[] arguments) throws IOException {
        Field field = new Field();
        ServerSocket server = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress());
        while (true) {
            Socket client = server.accept();
            daemon("grower", () -> serve(client, field));
        }
    }
}
