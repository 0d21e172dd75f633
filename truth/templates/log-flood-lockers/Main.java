import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Finds a door of a bank of lockers for a parcel: each door's controller is asked for its state, by frames of its bus. */
public class @{Class} {
    enum Level { TRACE, INFO, WARN }

    /** Lines with a time, each in the file at once. */
    static final class Log {
        private final FileOutputStream file;
        private final Level level;

        Log(String path, Level level) throws IOException {
            this.file = new FileOutputStream(path, true);
            this.level = level;
        }

        boolean wants(Level wanted) {
            return wanted.compareTo(level) >= 0;
        }

        synchronized void write(Level of, Supplier<String> text) {
            if (!wants(of)) {
                return;
            }
            try {
                file.write((Instant.now() + " " + of + " bus " + text.get() + "\n").getBytes(StandardCharsets.ISO_8859_1));
            } catch (IOException error) {
                System.err.println("log: " + error);
            }
        }
    }

    /** The controller of a door, as the simulator of its maker has it. */
    static final class Door {
        final int number;
        private int turns;

        Door(int number) {
            this.number = number;
        }

        byte[] answer(byte[] frame) {
            turns++;
            byte[] body = new byte[@{frame}];
            for (int i = 4; i < body.length; i++) {
                body[i] = (byte) (i * number + turns);
            }
            body[0] = (byte) number;
            body[1] = (byte) turns;
            body[2] = frame[2];
            body[3] = (byte) ((turns * 7 + number) % 5);
            return body;
        }
    }

    private static final String HEX = "0123456789abcdef";
    private final Log log;
    private final List<Door> doors = new ArrayList<>();

    @{Class}(Log log) {
        this.log = log;
        for (int number = 1; number <= @{doors}; number++) {
            doors.add(new Door(number));
        }
    }

    private void @{fnCamel}(String way, int door, byte[] frame) {
        if (!log.wants(Level.TRACE)) {
            return;
        }
        log.write(Level.TRACE, () -> way + " door " + door + " " + frame.length + " bytes");
        for (int at = 0; at < frame.length; at += 16) {
            StringBuilder hex = new StringBuilder();
            StringBuilder shown = new StringBuilder();
            for (int i = at; i < Math.min(at + 16, frame.length); i++) {
                int c = frame[i] & 255;
                hex.append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15)).append(' ');
                shown.append(c >= 32 && c < 127 ? (char) c : '.');
            }
            int from = at;
            log.write(Level.TRACE, () -> way + " " + Integer.toHexString(0x10000 | from).substring(1) + "  " + hex + " |" + shown + "|");
        }
    }

    private static int crc(byte[] frame) {
        int total = 0xFFFF;
        for (byte c : frame) {
            total ^= c & 255;
            for (int bit = 0; bit < 8; bit++) {
                total = (total & 1) != 0 ? total >> 1 ^ 0xA001 : total >> 1;
            }
        }
        return total;
    }

    synchronized int free(int order) {
        int best = Integer.MAX_VALUE;
        int found = 0;
        for (Door door : doors) {
            byte[] frame = ByteBuffer.allocate(7).put((byte) door.number).put((byte) 0x41).put((byte) order).putInt(order).array();
            @{fnCamel}("->", door.number, frame);
            byte[] answer = door.answer(frame);
            @{fnCamel}("<-", door.number, answer);
            int cost = answer[3] << 16 | crc(answer);
            if (cost < best) {
                best = cost;
                found = door.number;
            }
        }
        return found;
    }

    private void serve(Socket line) {
        try (line; BufferedReader in = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII))) {
            line.setTcpNoDelay(true);
            for (String asked; (asked = in.readLine()) != null;) {
                String[] words = asked.split(" ");
                int order = words.length > 1 ? Integer.parseInt(words[1]) : 0;
                int door = free(order);
                log.write(Level.INFO, () -> "order " + order + " gets door " + door + " for " + line.getPort());
                line.getOutputStream().write(("door " + door + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException error) {
            log.write(Level.WARN, () -> "line ended: " + error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} bank = new @{Class}(new Log("@{work}/@{log}", Level.valueOf("@{level}")));
        try (ServerSocket entry = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket line = entry.accept();
                new Thread(() -> bank.serve(line)).start();
            }
        }
    }
}
