import java.io.*;
import java.net.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;

/** A weather archive. "pressure N" is answered by station N's samples for a display, "all N" by its years. */
public class @{Class} {
    static final int SAMPLE = 12, STATIONS = 4, YEARS = @{years};
    private final ByteBuffer[] stations = new ByteBuffer[STATIONS];

    @{Class}() {
        for (int station = 0; station < STATIONS; station++) {
            var samples = ByteBuffer.allocateDirect(YEARS * SAMPLE).order(ByteOrder.LITTLE_ENDIAN);
            double pressure = 1013;
            for (int i = 0; i < YEARS; i++) {
                pressure += Math.sin(i / 900.0 + station) * 0.02;
                samples.putInt(i * 600).putInt(station).putFloat((float) pressure);
            }
            stations[station] = samples;
        }
    }

    static ByteBuffer last(ByteBuffer samples, int count) {
        return samples.duplicate().order(ByteOrder.LITTLE_ENDIAN).position((YEARS - count) * SAMPLE).limit(YEARS * SAMPLE);
    }

    /** What the forecaster's rule of thumb says: rising or falling, smoothed over the last days. */
    static String tendency(ByteBuffer samples) {
        int first = (YEARS - 600) * SAMPLE + 8;
        float smooth = 0, now = samples.getFloat(first + 599 * SAMPLE);
        for (int round = 0; round < @{rounds}; round++) {
            smooth = samples.getFloat(first);
            for (int i = 1; i < 600; i++) smooth += (samples.getFloat(first + i * SAMPLE) - smooth) / (round + 2);
        }
        return Math.abs(now - smooth) < 0.1 ? "steady" : now > smooth ? "rising" : "falling";
    }

    void @{fnCamel}(SocketChannel display, int number, int count) throws IOException {
        ByteBuffer station = stations[number % STATIONS], samples = last(station, count);
        String head = tendency(station) + " " + samples.remaining() / SAMPLE + "\n";
        ByteBuffer[] answer = { ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)), samples };
        while (samples.hasRemaining()) display.write(answer);
    }

    void serve(SocketChannel display) {
        try (display) {
            display.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var questions = new BufferedReader(Channels.newReader(display, StandardCharsets.US_ASCII));
            for (String question; (question = questions.readLine()) != null; ) {
                String[] words = question.split(" ");
                @{fnCamel}(display, Integer.parseInt(words[1]), words[0].equals("all") ? YEARS : @{sent});
            }
        } catch (IOException e) {
            System.err.println(e.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        var archive = new @{Class}();
        try (var door = ServerSocketChannel.open()) {
            door.bind(new InetSocketAddress("127.0.0.1", @{port}));
            while (true) {
                SocketChannel display = door.accept();
                new Thread(() -> archive.serve(display)).start();
            }
        }
    }
}
