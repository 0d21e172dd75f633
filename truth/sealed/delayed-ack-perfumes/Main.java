import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Mixes perfumes: works out what a customer's recipe needs, and has it dispensed, dose by dose. */
public class @{Class} {
    private final DataInputStream in;
    private final OutputStream out;
    private int number;

    @{Class}(Socket dispenser) throws IOException {
        if (@{now} == 1)
            dispenser.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(dispenser.getInputStream()));
        out = dispenser.getOutputStream();
    }

    record Dose(String essence, int drops, String note) {
        byte[] text() {
            return (essence + ";" + drops + ";" + note).getBytes(StandardCharsets.UTF_8);
        }
    }

    /** The n-th dose of a recipe: the drops follow from how volatile the essences are. */
    static Dose dose(int recipe, int n) {
        double volatility = 0;
        for (int i = 1; i <= 2000; i++)
            volatility += Math.exp(-i / (10.0 + recipe % 17)) * Math.cos(n * i);
        return new Dose("essence" + (recipe * 5 + n) % @{essences}, 3 + (int) Math.abs(volatility * 7) % 40, "warm ".repeat(@{note} / 5));
    }

    String @{fnCamel}(Dose dose) throws IOException {
        byte[] text = dose.text();
        ByteBuffer message = ByteBuffer.allocate(8 + text.length).putInt(++number).putInt(text.length).put(text);
        if (@{together} == 1) {
            out.write(message.array());
        } else {
            out.write(message.array(), 0, 8);
            out.write(text);
        }
        if (in.readInt() != number)
            throw new IOException("an answer to another dose");
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }

    public static void main(String[] arguments) throws Exception {
        long units = 0, busy = 0, spent = 0;
        String last = "";
        try (Socket dispenser = new Socket("127.0.0.1", @{port})) {
            @{Class} mixer = new @{Class}(dispenser);
            long began = System.nanoTime();
            while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                for (int n = 0; n < @{doses}; n++) {
                    Dose dose = dose((int) units, n);
                    long asked = System.nanoTime();
                    last = mixer.@{fnCamel}(dose);
                    spent += System.nanoTime() - asked;
                }
                units++;
                busy += System.nanoTime() - start;
                double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
                if (rest > 0)
                    Thread.sleep((long) (rest * 1000));
            }
        }
        System.err.println(units + " recipes; " + last);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, spent / 1e9));
    }
}
