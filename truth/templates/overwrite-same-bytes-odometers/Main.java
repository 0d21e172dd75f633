import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.SynchronousQueue;

/** Counts the operating hours and ways of forklifts from their radio messages. */
public class @{Class} {
    private static final int ROW = 16;
    private final double[] metres = new double[@{vehicles}];
    private final float[] x = new float[@{vehicles}], y = new float[@{vehicles}];
    private final ByteBuffer image = ByteBuffer.allocateDirect(@{vehicles} * ROW).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer changed = ByteBuffer.allocateDirect(@{positions} * (ROW + 8)).order(ByteOrder.LITTLE_ENDIAN);
    private final FileChannel table;
    private long spent, place;

    @{Class}(Path path) throws IOException {
        table = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private int drive(String message) {
        String[] fields = message.split(";");
        int number = Integer.parseInt(fields[0]);
        for (int i = 1; i < fields.length; i++) {
            int comma = fields[i].indexOf(',');
            float toX = Float.parseFloat(fields[i].substring(0, comma)), toY = Float.parseFloat(fields[i].substring(comma + 1));
            metres[number] += Math.hypot(toX - x[number], toY - y[number]);
            x[number] = toX;
            y[number] = toY;
        }
        image.putDouble(number * ROW, metres[number]).putFloat(number * ROW + 8, x[number]).putFloat(number * ROW + 12, y[number]);
        return number;
    }

    /** What is known of all of them, for the next start. */
    void @{fnCamel}() throws IOException {
        image.position(0).limit(@{vehicles} * ROW);
        put(image, 0);
        image.position(0);
    }

    /** Only what has changed; the oldest goes for it. */
    private void note() throws IOException {
        changed.flip();
        if (place + changed.limit() > @{ring_kb}L << 10)
            place = 0;
        put(changed, place);
        place += changed.limit();
        changed.clear();
    }

    private void put(ByteBuffer bytes, long at) throws IOException {
        long start = System.nanoTime();
        while (bytes.hasRemaining())
            at += table.write(bytes, at);
        spent += System.nanoTime() - start;
    }

    void take(List<String> messages) throws IOException {
        for (String message : messages) {
            int number = drive(message);
            if ("@{save}".equals("each"))
                @{fnCamel}();
            else if ("@{save}".equals("ring"))
                changed.putLong(number).putDouble(metres[number]).putFloat(x[number]).putFloat(y[number]);
        }
        if ("@{save}".equals("ring"))
            note();
        if ("@{save}".equals("batch"))
            @{fnCamel}();
    }

    private static List<String> heard(int turn) {
        List<String> messages = new ArrayList<>();
        for (int i = 0; i < @{positions}; i++) {
            int vehicle = (turn * 31 + i * 7) % @{vehicles};
            StringBuilder text = new StringBuilder().append(vehicle);
            for (int point = 0; point < @{points}; point++)
                text.append(';').append((vehicle + point * 3) % 900).append(".5,").append((turn + point * 5) % 700).append(".25");
            messages.add(text.toString());
        }
        return messages;
    }

    public static void main(String[] arguments) throws Exception {
        SynchronousQueue<List<String>> batches = new SynchronousQueue<>();
        Thread radio = new Thread(() -> {
            try {
                long due = System.nanoTime();
                for (int turn = 0; ; turn++) {
                    List<String> messages = heard(turn & 0xffff);
                    due = Math.max(due + (long) (1e9 / @{rate}), System.nanoTime());
                    Thread.sleep(Math.max(0, due - System.nanoTime()) / 1_000_000);
                    batches.put(messages);
                }
            } catch (InterruptedException over) {
                // The end.
            }
        }, "radio");
        radio.setDaemon(true);
        radio.start();
        @{Class} counter = new @{Class}(Path.of("@{work}/@{table}"));
        // The messages of the night.
        for (int turn = 0; turn < 150; turn++)
            counter.take(heard(turn));
        counter.spent = 0;
        long units = 0, busy = 0, began = System.nanoTime();
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            List<String> messages = batches.take();
            long start = System.nanoTime();
            counter.take(messages);
            busy += System.nanoTime() - start;
            if (++units % 100 == 0)
                System.out.printf("%d batches, %.1f m%n", units, counter.metres[0]);
        }
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, counter.spent / 1e9));
    }
}
