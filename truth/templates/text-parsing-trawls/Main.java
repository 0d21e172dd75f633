import java.io.DataInputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the fleet is and what it has caught, drawn anew with each transmission. */
public class @{Class} {
    static final Pattern LINE = Pattern.compile("(\\S+ \\S+) \\[(\\S+)\\] (\\w+) ship=FV(\\d+) lat=(-?[\\d.]+) lon=(-?[\\d.]+) "
            + "speed=([\\d.]+)kn catch=(\\d+)kg gear=(\\w+) status=\"(.*)\"");
    static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    record Call(long at, int ship, double lat, double lon, double knots, int caught) {}

    static List<Call> @{fnCamel}(byte[] body) {
        List<Call> calls = new ArrayList<>();
        for (String line : new String(body, StandardCharsets.UTF_8).split("\n")) {
            Matcher found = LINE.matcher(line);
            if (found.matches()) {
                long at = LocalDateTime.parse(found.group(1), CLOCK).toEpochSecond(ZoneOffset.UTC);
                calls.add(new Call(at, Integer.parseInt(found.group(4)), Double.parseDouble(found.group(5)),
                        Double.parseDouble(found.group(6)), Double.parseDouble(found.group(7)), Integer.parseInt(found.group(8))));
            }
        }
        return calls;
    }

    static List<Call> records(byte[] body) {
        List<Call> calls = new ArrayList<>(body.length / 18);
        for (ByteBuffer room = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN); room.remaining() >= 18;) {
            calls.add(new Call(room.getInt(), room.getShort(), room.getInt() / 1e4, room.getInt() / 1e4, room.getShort() / 10.0, room.getShort()));
        }
        return calls;
    }

    static double draw(Map<Integer, Call> fleet) {
        double fullest = 0;
        for (int row = 0; row < @{cells}; row++) {
            for (int column = 0; column < @{cells}; column++) {
                double sum = 0;
                for (Call call : fleet.values()) {
                    double north = call.lat() - 30 - row * 3, east = call.lon() + 30 - column * 4;
                    sum += 1 / (1 + north * north + east * east);
                }
                fullest = Math.max(fullest, sum);
            }
        }
        return fullest;
    }

    public static void main(String[] arguments) throws Exception {
        Map<Integer, Call> fleet = new HashMap<>();
        Map<Integer, Long> caught = new HashMap<>();
        boolean log = "@{form}".equals("log");
        long units = 0, busy = 0, culprit = 0;
        double fullest = 0;
        try (Socket radio = new Socket("127.0.0.1", @{radio}); var in = new DataInputStream(radio.getInputStream())) {
            byte[] first = new byte[Integer.reverseBytes(in.readInt())];
            in.readFully(first);
            for (long until = System.nanoTime() + 300_000_000; System.nanoTime() < until;) {
                for (Call call : log ? @{fnCamel}(first) : records(first)) {
                    fleet.put(call.ship(), call);
                }
                fullest = draw(fleet);
            }
            long began = System.nanoTime();
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                byte[] body = new byte[Integer.reverseBytes(in.readInt())];
                in.readFully(body);
                long start = System.nanoTime();
                List<Call> calls = log ? @{fnCamel}(body) : records(body);
                if (log) {
                    culprit += System.nanoTime() - start;
                }
                for (Call call : calls) {
                    fleet.put(call.ship(), call);
                    caught.merge(call.ship(), (long) call.caught(), Long::sum);
                }
                fullest = draw(fleet);
                units++;
                busy += System.nanoTime() - start;
            }
        }
        System.out.println(fullest + " " + caught.size());
        Files.writeString(Path.of("@{report}"),
                String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, culprit / 1e9));
    }
}
