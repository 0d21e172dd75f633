import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.io.OutputStreamWriter;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

public class @{Class} implements Runnable {
    static double now() {
        return System.nanoTime() / 1e9;
    }

    static void waitUntil(double due) throws InterruptedException {
        Thread.sleep(Math.max(0L, (long) ((due - now()) * 1000)));
    }

    static void report(long units, double busy, double culprit) throws java.io.IOException {
        String text = String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
        java.nio.file.Files.writeString(java.nio.file.Path.of("@{report}"), text);
    }

    volatile double asked, busy;
    volatile long units;
    Socket socket;
    BufferedReader in;
    Writer out;

    String @{fnCamel}(String booking) throws IOException {
        if (socket == null) {
            socket = new Socket("127.0.0.1", @{port});
            socket.setSoTimeout((int) (@{limit} * 1000));
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            out = new OutputStreamWriter(socket.getOutputStream());
        }
        out.write(booking + "\n");
        out.flush();
        return in.readLine();
    }

    String book(String booking) throws IOException {
        while (true) {
            try {
                return @{fnCamel}(booking);
            } catch (IOException error) {
                socket.close();
                socket = null;
            }
        }
    }

    @Override
    public void run() {
        double began = now();
        try {
            while (true) {
                asked = now();
                book("room " + units);
                busy += now() - asked;
                asked = 0;
                units++;
                waitUntil(began + units / (double) @{rate});
            }
        } catch (IOException | InterruptedException error) {
            error.printStackTrace();
        }
    }

    public static void main(String[] words) throws Exception {
        List<@{Class}> desks = new ArrayList<>();
        for (int i = 0; i < @{workers}; i++) {
            desks.add(new @{Class}());
            Thread thread = new Thread(desks.get(i), "desk-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        if (@{idle} == 1) {
            java.net.ServerSocket console = new java.net.ServerSocket(0, 5, java.net.InetAddress.getByName("127.0.0.1"));
            Thread thread = new Thread(() -> {
                try {
                    console.accept().close();
                } catch (IOException error) {
                    error.printStackTrace();
                }
            }, "console");
            thread.setDaemon(true);
            thread.start();
        }
        waitUntil(now() + @{seconds});
        long units = 0;
        double busy = 0, hanging = 0;
        for (@{Class} desk : desks) {
            double asked = desk.asked;
            units += desk.units;
            busy += desk.busy;
            hanging += asked > 0 ? now() - asked : 0;
        }
        report(units, busy + hanging, hanging);
    }
}
