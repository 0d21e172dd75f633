import java.io.*;
import java.net.*;
import java.nio.file.*;
import java.util.zip.CRC32;

/** Loads the heating programmes of a block of flats into its thermostats, flat by flat, by way of the gateway in the cellar. */
public class @{Class} implements AutoCloseable {
    private final Socket socket;
    private final DataOutputStream out;
    private final DataInputStream in;

    @{Class}(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 16384));
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    }

    /** For each quarter of an hour what the rooms shall have, in half degrees. */
    static byte[] programme(int flat, int bytes) {
        byte[] image = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            int quarter = i % 96, room = i / 96;
            int base = quarter >= 26 && quarter <= 88 ? 42 : 34;
            image[i] = (byte) (base + (flat * 7 + room * 3) % 5 - (room % 3 == 2 && quarter > 60 ? 1 : 0));
        }
        return image;
    }

    private void message(char kind, int flat, int offset, byte[] image, int length) throws IOException {
        out.writeByte(kind);
        out.writeShort(flat);
        out.writeInt(offset);
        out.writeShort(length);
        out.write(image, offset, length);
        out.flush();
    }

    private int reply(char kind) throws IOException {
        int got = in.readByte();
        if (got != kind) throw new IOException("the gateway says " + (char) got);
        return in.readInt();
    }

    void @{fnCamel}(int flat, byte[] image) throws IOException {
        for (int offset = 0; offset < image.length; offset = reply('A'))
            message('P', flat, offset, image, Math.min(@{piece}, image.length - offset));
    }

    boolean matches(int flat, byte[] image) throws IOException {
        var crc = new CRC32();
        crc.update(image);
        message('C', flat, 0, image, 0);
        return reply('C') == (int) crc.getValue();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    static double now() {
        return System.nanoTime() / 1e9;
    }

    public static void main(String[] arguments) throws Exception {
        int units = 0, again = 0;
        double busy = 0, culprit = 0, began = now();
        try (var gateway = new @{Class}(@{gateway})) {
            while (now() - began < @{seconds}) {
                double start = now();
                int flat = units % 400 + 1;
                byte[] image = programme(flat, @{bytes});
                double sent = now();
                gateway.@{fnCamel}(flat, image);
                culprit += now() - sent;
                if (!gateway.matches(flat, image)) again++;
                units++;
                busy += now() - start;
                double rest = began + units / (double) @{rate} - now();
                if (rest > 0) Thread.sleep((long) (rest * 1000));
            }
        }
        System.err.println(units + " flats, " + again + " to be done again");
        Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy + ", \"culprit\": " + culprit + "}");
    }
}
