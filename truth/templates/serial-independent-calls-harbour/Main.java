// The board of a harbour: when a vessel may come in, by tide, wind, lock, berth and pilot.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class @{Class} {
    record Said(int level, double trend) {}

    static final int[] PORTS = {@{tide}, @{wind}, @{lock}, @{berth}, @{pilot}};
    static final ExecutorService HELPERS = Executors.newCachedThreadPool();

    static class Desk {
        final OutputStream out;
        final BufferedReader in;

        Desk(int port) throws IOException {
            Socket line = new Socket(InetAddress.getLoopbackAddress(), port);
            line.setTcpNoDelay(true);
            out = line.getOutputStream();
            in = new BufferedReader(new InputStreamReader(line.getInputStream()));
        }

        Said ask(int vessel, int hint) {
            try {
                out.write((vessel + " " + hint + "\n").getBytes());
                String[] words = in.readLine().split(" ");
                return new Said(Integer.parseInt(words[0]), Double.parseDouble(words[1]));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static class Board {
        final List<Desk> desks = new ArrayList<>();
        final double[] heights = new double[96];

        Board() throws IOException {
            for (int port : PORTS) desks.add(new Desk(port));
            for (int i = 0; i < 96; i++) heights[i] = Math.sin(i * Math.PI / 24);
        }

        List<Said> @{fnCamel}(int vessel) {
            if ("@{order}".equals("once")) {
                List<CompletableFuture<Said>> asked = new ArrayList<>();
                for (Desk desk : desks) asked.add(CompletableFuture.supplyAsync(() -> desk.ask(vessel, 0), HELPERS));
                return asked.stream().map(CompletableFuture::join).toList();
            }
            List<Said> said = new ArrayList<>();
            int hint = 0;
            for (Desk desk : desks) {
                Said one = desk.ask(vessel, hint);
                if ("@{order}".equals("relay")) hint = one.level;
                said.add(one);
            }
            return said;
        }

        // How good each quarter of an hour is, and which is the best.
        String window(List<Said> said) {
            int best = 0;
            double most = -1e9;
            for (int pass = 0; pass < @{detail} * 20; pass++) {
                for (int quarter = 0; quarter < 96; quarter++) {
                    double worth = 0;
                    for (Said one : said) worth += heights[quarter] * Math.cos(one.trend + pass) - Math.floorMod(one.level / 15 - quarter - pass, 96) / 200.0;
                    if (worth > most) {
                        most = worth;
                        best = quarter;
                    }
                }
            }
            return String.format("%02d:%02d, %.2f", best / 4, best % 4 * 15, most);
        }
    }

    static void serve(Socket skipper) {
        try (skipper) {
            skipper.setTcpNoDelay(true);
            Board board = new Board();
            BufferedReader in = new BufferedReader(new InputStreamReader(skipper.getInputStream()));
            for (String line; (line = in.readLine()) != null; ) {
                int vessel = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
                skipper.getOutputStream().write(("vessel " + vessel + ": " + board.window(board.@{fnCamel}(vessel)) + "\n").getBytes());
            }
        } catch (IOException | RuntimeException e) {
            System.err.println("skipper: " + e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket skipper = door.accept();
            new Thread(() -> serve(skipper), "skipper").start();
        }
    }
}
