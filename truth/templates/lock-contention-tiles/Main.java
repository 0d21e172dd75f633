import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Serves the tiles of a hiking map: heights in steps of fifty metres, run by run. */
public class @{Class} {
    static final int SIDE = @{side};
    static final int START_PAGE = 32;
    static final boolean INSIDE = "@{drawing}".equals("inside");

    /** The tiles that were asked for last. */
    private final Map<Integer, byte[]> @{lock} = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
            return size() > @{kept};
        }
    };

    static double height(double x, double y) {
        double sum = 0;
        double wide = 1;
        for (int octave = 0; octave < 4; octave++) {
            sum += (Math.sin(x / wide + octave) * Math.cos(y / wide - octave) + 1) * 400 * wide;
            wide /= 2;
        }
        return sum;
    }

    static byte[] draw(int number) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(SIDE * 8);
        double left = number % 1000;
        double top = number / 1000;
        for (int row = 0; row < SIDE; row++) {
            int run = 0;
            int last = -1;
            for (int column = 0; column < SIDE; column++) {
                int step = (int) (height(left + (double) column / SIDE, top + (double) row / SIDE) / 50) & 255;
                if (step == last && run < 255) {
                    run++;
                    continue;
                }
                if (run > 0) {
                    out.write(run);
                    out.write(last);
                }
                run = 1;
                last = step;
            }
            out.write(run);
            out.write(last);
        }
        return out.toByteArray();
    }

    byte[] @{fnCamel}(int number) {
        if (INSIDE) {
            synchronized (@{lock}) {
                byte[] tile = @{lock}.get(number);
                if (tile == null) {
                    tile = draw(number);
                    @{lock}.put(number, tile);
                }
                return tile;
            }
        }
        synchronized (@{lock}) {
            byte[] tile = @{lock}.get(number);
            if (tile != null) return tile;
        }
        byte[] tile = draw(number);
        synchronized (@{lock}) {
            @{lock}.put(number, tile);
        }
        return tile;
    }

    /** Every third hiker looks at the region's start page, the others at places of their own. */
    static int place(int asked) {
        int mixed = (asked * 0x9E3779B1) >>> 8;
        return mixed % 3 == 0 ? mixed % START_PAGE : 1000 + asked;
    }

    void talk(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String first = in.readLine(); first != null; first = in.readLine()) {
                while (!in.readLine().isEmpty());
                int dot = first.indexOf('.');
                byte[] tile = first.startsWith("GET /tiles/") && dot > 0 ? @{fnCamel}(place(Integer.parseInt(first.substring(11, dot)))) : null;
                ByteArrayOutputStream answer = new ByteArrayOutputStream();
                String head = tile == null ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: " + tile.length + "\r\n\r\n";
                answer.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
                if (tile != null) answer.writeBytes(tile);
                answer.writeTo(socket.getOutputStream());
            }
        } catch (IOException gone) {
            // The hiker has seen enough.
        }
    }

    public static void main(String[] args) throws IOException {
        @{Class} app = new @{Class}();
        for (int number = 0; number < START_PAGE; number++) app.@{fnCamel}(number);
        ExecutorService hikers = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket socket = door.accept();
                hikers.execute(() -> app.talk(socket));
            }
        }
    }
}
