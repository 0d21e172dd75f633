import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/** The price desk of a camp site: "quote PITCH NIGHTS" is answered by what the stay costs. The season's prices follow the bookings. */
public class @{Class} {
    static final int PITCHES = @{pitches}, NIGHTS = @{nights};
    private final ReentrantLock register = new ReentrantLock();
    private final boolean[][] booked = new boolean[PITCHES][NIGHTS];
    private int[][] cents = new int[PITCHES][NIGHTS];
    private int season;
    private long quoted;

    @{Class}() {
        for (int p = 0; p < PITCHES; p++)
            for (int n = 0; n < NIGHTS; n++) {
                cents[p][n] = 1500 + p % 40 * 10;
                booked[p][n] = (p * 31 + n * 17) % 5 == 0;
            }
    }

    /** One pass over the pitches after another, each nearer to what the demand of the neighbouring nights says. */
    int @{fnCamel}(int[][] prices, double milliseconds) {
        long end = System.nanoTime() + (long) (milliseconds * 1e6);
        int moved = 0;
        for (int p = 0; System.nanoTime() < end; p = (p + 1) % PITCHES)
            for (int n = 0; n < NIGHTS; n++) {
                double demand = 0;
                for (int d = -6; d <= 6; d++)
                    if (n + d >= 0 && n + d < NIGHTS && booked[p][n + d]) demand += Math.exp(-d * d / 8.0);
                int wanted = (int) (1400 + 300 * demand + 200 * (p % 7) / 7.0);
                if (wanted != prices[p][n]) moved++;
                prices[p][n] += (wanted - prices[p][n]) / 2;
            }
        return moved;
    }

    void follow() {
        try {
            while (true) {
                if (@{aside} == 1) {
                    int[][] draft = new int[PITCHES][];
                    register.lock();
                    for (int p = 0; p < PITCHES; p++) draft[p] = cents[p].clone();
                    register.unlock();
                    @{fnCamel}(draft, @{hold});
                    register.lock();
                    cents = draft;
                    season++;
                    register.unlock();
                } else {
                    register.lock();
                    try {
                        @{fnCamel}(cents, @{hold});
                        season++;
                    } finally {
                        register.unlock();
                    }
                }
                Thread.sleep((long) @{rest}, (int) (@{rest} % 1 * 1e6) % 999999);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    int quote(int number, int nights) {
        register.lock();
        try {
            int sum = 0;
            for (int n = 0; n < nights; n++) sum += cents[number % PITCHES][(number + n) % NIGHTS];
            quoted++;
            return sum;
        } finally {
            register.unlock();
        }
    }

    /** A reference number with a check figure. */
    static int voucher(int number, int sum) {
        int reference = (int) 2166136261L;
        for (int round = 0; round < 20000; round++) reference = (reference ^ (number + sum + round)) * 16777619;
        return reference;
    }

    void serve(Socket caller) {
        try (caller) {
            caller.setTcpNoDelay(true);
            var in = new BufferedReader(new InputStreamReader(caller.getInputStream(), StandardCharsets.US_ASCII));
            for (String line; (line = in.readLine()) != null; ) {
                String[] words = line.split(" ");
                int number = Integer.parseInt(words[1]), sum = quote(number, Integer.parseInt(words[2]));
                int tax = number % 3 * 180;
                String answer = (sum + tax) + " cents incl. tax, ref " + Integer.toHexString(voucher(number, sum)) + "\n";
                caller.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        var desk = new @{Class}();
        var prices = new Thread(desk::follow, "prices");
        prices.setDaemon(true);
        prices.start();
        try (var door = new ServerSocket(@{port}, 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket caller = door.accept();
                new Thread(() -> desk.serve(caller)).start();
            }
        }
    }
}
