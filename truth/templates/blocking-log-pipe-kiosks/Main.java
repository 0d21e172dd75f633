import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Sells tickets to kiosks. The sales go to standard output, which is the pipe to the archive. */
public class @{Class} {
    private static final String LAYOUT = "= valid today on all lines ".repeat(160).substring(0, @{bytes});
    private final AtomicLong sold = new AtomicLong();

    private void @{fnCamel}(long number, String zone, int cents) {
        String line = "{\"sold\":" + number + ",\"zone\":\"" + zone + "\",\"cents\":" + cents + ",\"receipt\":\"" + LAYOUT + "\"}\n";
        System.out.print(line);
        System.out.flush();
    }

    private static int price(String zone) {
        int cents = 170;
        for (char letter : zone.toCharArray())
            cents = (cents * 31 + letter) % 2000;
        return cents + 100;
    }

    private void serve(Socket kiosk) {
        try (kiosk; BufferedReader lines = new BufferedReader(new InputStreamReader(kiosk.getInputStream()))) {
            kiosk.setTcpNoDelay(true);
            OutputStream answers = kiosk.getOutputStream();
            for (String line; (line = lines.readLine()) != null; ) {
                String zone = line.split(" ")[1];
                long number = sold.incrementAndGet();
                int cents = price(zone);
                if (number % @{every} == 0)
                    @{fnCamel}(number, zone, cents);
                answers.write(("ticket " + number + " " + cents + "\n").getBytes());
            }
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        System.setOut(new PrintStream(new FileOutputStream("@{work}/@{pipe}"), false));
        @{Class} sales = new @{Class}();
        ExecutorService kiosks = Executors.newCachedThreadPool();
        try (ServerSocket listener = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket kiosk = listener.accept();
                kiosks.execute(() -> sales.serve(kiosk));
            }
        }
    }
}
