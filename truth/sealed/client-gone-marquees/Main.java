import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Free tables in the marquees of a fair. */
public class @{Class} {
    static final class Marquee extends Thread {
        private final Random chance = new Random();
        private final List<String> tables = new ArrayList<>();
        private int version;

        @Override
        public void run() {
            try {
                while (true) {
                    Thread.sleep((long) (@{change_s} * 1000 * (0.7 + 0.6 * chance.nextDouble())));
                    synchronized (this) {
                        tables.add("table " + chance.nextInt(200) + " for " + (2 + ++version % 7));
                        if (tables.size() > 15) {
                            tables.remove(0);
                        }
                        notifyAll();
                    }
                }
            } catch (InterruptedException e) {
                interrupt();
            }
        }

        synchronized List<String> news(int seen, long holdMs) throws InterruptedException {
            long due = System.nanoTime() + holdMs * 1_000_000;
            int was = version;
            while (seen == 0 ? version == was : version <= seen) {
                long rest = (due - System.nanoTime()) / 1_000_000;
                if (rest <= 0) {
                    break;
                }
                wait(rest);
            }
            int count = Math.min(tables.size(), Math.max(0, version - seen));
            List<String> answer = new ArrayList<>();
            answer.add("tables " + count + " " + version);
            answer.addAll(tables.subList(tables.size() - count, tables.size()));
            return answer;
        }
    }

    private final Marquee[] marquees = new Marquee[@{tents}];

    @{Class}() {
        for (int i = 0; i < marquees.length; i++) {
            marquees[i] = new Marquee();
            marquees[i].setDaemon(true);
            marquees[i].start();
        }
    }

    void @{fnCamel}(OutputStream out, int marquee, int seen) throws IOException, InterruptedException {
        List<String> news = marquees[marquee % marquees.length].news(seen, (long) (@{hold} * 1000));
        out.write((news.get(0) + "\n").getBytes());
        out.write((String.join("\n", news.subList(1, news.size())) + (news.size() > 1 ? "\n\n" : "\n")).getBytes());
    }

    private void serve(Socket display) {
        try (display) {
            display.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(display.getInputStream()));
            for (String line; (line = in.readLine()) != null;) {
                String[] words = line.split(" ");
                if (words.length == 3 && words[0].equals("@{verb}")) {
                    @{fnCamel}(display.getOutputStream(), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                }
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("a display: " + e.getMessage());
        }
    }

    public static void main(String[] words) throws IOException {
        @{Class} fair = new @{Class}();
        try (ServerSocket server = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket display = server.accept();
                new Thread(() -> fair.serve(display)).start();
            }
        }
    }
}
