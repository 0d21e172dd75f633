import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;

/** Mixes the dyes that the vats order: recipes by one mixer, over one balance. */
public class @{Class} {
    static final class Order {
        final int number, grams;
        final BlockingQueue<String> done = new LinkedBlockingQueue<>();

        Order(String[] words) {
            number = Integer.parseInt(words[1]);
            grams = Integer.parseInt(words[2]);
        }
    }

    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> wanted = new LinkedBlockingQueue<>();
    private final BlockingQueue<Double> tares = new SynchronousQueue<>();
    private volatile double lastTare;
    private final Socket balance;
    private final BufferedReader answers;

    private @{Class}() throws IOException {
        balance = new Socket(InetAddress.getLoopbackAddress(), @{scale});
        balance.setTcpNoDelay(true);
        answers = new BufferedReader(new InputStreamReader(balance.getInputStream()));
        lastTare = @{fnCamel}();
    }

    private double @{fnCamel}() throws IOException {
        balance.getOutputStream().write("tare\n".getBytes());
        return Double.parseDouble(answers.readLine().split(" ")[1]);
    }

    private void keep() {
        try {
            while (true) {
                wanted.take();
                tares.put(@{ahead} > 0 ? lastTare : @{fnCamel}());
            }
        } catch (IOException | InterruptedException end) {
            System.err.println(end);
        }
    }

    private void keepAhead() {
        try {
            while (true) {
                Thread.sleep((long) (@{ahead} * 1000));
                lastTare = @{fnCamel}();
            }
        } catch (IOException | InterruptedException end) {
            System.err.println(end);
        }
    }

    /** How much of each dye makes the shade of the order. */
    private static double recipe(Order order, double tare) {
        double sum = tare;
        for (int dye = 1; dye <= @{dyes}; dye++)
            sum += order.grams * Math.abs(Math.sin(order.number * 0.7 + dye)) / dye;
        return sum;
    }

    private void mix() {
        try {
            while (true) {
                Order order = orders.take();
                wanted.put(true);
                double tare = tares.take();
                order.done.put(String.format(Locale.ROOT, "mixed %d %.3f\n", order.number, recipe(order, tare)));
            }
        } catch (InterruptedException end) {
            System.err.println(end);
        }
    }

    private void vat(Socket client) {
        try (client; BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            client.setTcpNoDelay(true);
            for (String line; (line = lines.readLine()) != null; ) {
                Order order = new Order(line.split(" "));
                orders.put(order);
                client.getOutputStream().write(order.done.take().getBytes());
            }
        } catch (IOException | InterruptedException gone) {
            System.err.println(gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} house = new @{Class}();
        new Thread(house::keep, "keeper").start();
        if (@{ahead} > 0)
            new Thread(house::keepAhead, "keeper-ahead").start();
        new Thread(house::mix, "mixer").start();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = door.accept();
                new Thread(() -> house.vat(client), "vat").start();
            }
        }
    }
}
