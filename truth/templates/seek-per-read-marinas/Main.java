import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Bills of a marina: what each berth took of power and water on a day, in the order of the lessees. */
public class @{Class} {
    private static final int RECORD = @{size}, BERTHS = @{berths};

    /** What is owed, summed up by jetty. */
    static final class Sheet {
        final long[] byJetty = new long[26];
        int dearest = -1;
        long most;

        void add(int berth, ByteBuffer meter, int at) {
            long cents = (meter.getInt(at) >>> 12) * 31L + (meter.getInt(at + 4) >>> 14) * 4L;
            byJetty[berth % byJetty.length] += cents;
            if (cents > most) {
                most = cents;
                dearest = berth;
            }
        }
    }

    private final RandomAccessFile meters;
    private final int[] lessees;
    private long spent;

    private @{Class}(String path) throws IOException {
        meters = new RandomAccessFile(path, "r");
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < BERTHS; i++)
            order.add(i);
        Collections.shuffle(order, new Random(@{seed}));
        lessees = order.stream().mapToInt(Integer::intValue).toArray();
    }

    private Sheet @{fnCamel}(long day) throws IOException {
        Sheet sheet = new Sheet();
        byte[] record = new byte[RECORD];
        ByteBuffer meter = ByteBuffer.wrap(record);
        long start = System.nanoTime();
        for (int berth : lessees) {
            meters.seek((day * BERTHS + berth) * RECORD);
            meters.readFully(record);
            sheet.add(berth, meter, 0);
        }
        spent += System.nanoTime() - start;
        return sheet;
    }

    private Sheet wholeDay(long day) throws IOException {
        Sheet sheet = new Sheet();
        ByteBuffer all = ByteBuffer.allocate(RECORD * BERTHS);
        while (all.hasRemaining() && meters.getChannel().read(all, day * BERTHS * RECORD + all.position()) > 0)
            ;
        for (int berth : lessees)
            sheet.add(berth, all, berth * RECORD);
        return sheet;
    }

    private Sheet desk(long day, Random visitors) throws IOException {
        Sheet sheet = new Sheet();
        ByteBuffer one = ByteBuffer.allocate(RECORD);
        for (int i = 0; i < @{few}; i++) {
            int berth = lessees[visitors.nextInt(BERTHS)];
            meters.getChannel().read(one.clear(), (day * BERTHS + berth) * RECORD);
            sheet.add(berth, one, 0);
        }
        return sheet;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} marina = new @{Class}("@{file}");
        Random visitors = new Random();
        long began = System.nanoTime(), busy = 0, total = 0;
        int units = 0;
        while (System.nanoTime() - began < @{seconds} * 1e9) {
            long start = System.nanoTime(), day = units % @{days};
            Sheet sheet = switch ("@{how}") {
                case "each" -> marina.@{fnCamel}(day);
                case "day" -> marina.wholeDay(day);
                default -> marina.desk(day, visitors);
            };
            total += sheet.byJetty[0] + sheet.dearest;
            units++;
            busy += System.nanoTime() - start;
            long rest = began + (long) (units * 1e9 / @{rate}) - System.nanoTime();
            if (rest > 0)
                Thread.sleep(rest / 1000000, (int) (rest % 1000000));
        }
        System.out.println("owed at the first jetty: " + total);
        Files.writeString(Path.of("@{report}"),
            String.format(java.util.Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, marina.spent / 1e9));
    }
}
