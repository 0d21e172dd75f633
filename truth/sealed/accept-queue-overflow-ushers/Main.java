import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Random;

/** Gives the ushers at the doors the plan of the house: who sits where, and which seats are free. */
public class @{Class} {
    private static final int ROWS = @{rows}, SEATS = 40;
    private final BitSet taken = new BitSet(ROWS * SEATS);
    private final Random sales = new Random(@{port});

    private void sell() {
        for (int i = 0; i < 3; i++)
            taken.set(sales.nextInt(ROWS * SEATS));
        if (taken.cardinality() > ROWS * SEATS * 3 / 4)
            taken.clear();
    }

    /** The way to a seat is through the row's nearer end that has fewer people in it. */
    private int way(int row, int seat, int door) {
        int left = 0, right = 0;
        for (int at = 0; at < SEATS; at++) {
            int cost = taken.get(row * SEATS + at) ? 3 : 1;
            if (at < seat)
                left += cost;
            else
                right += cost;
        }
        return Math.min(left + door % 3, right + (door + 1) % 3);
    }

    private String plan(int door) {
        StringBuilder plan = new StringBuilder(ROWS * SEATS + 400);
        for (int row = 0; row < ROWS; row++) {
            int walk = 0;
            for (int seat = 0; seat < SEATS; seat++) {
                plan.append(taken.get(row * SEATS + seat) ? '#' : '.');
                walk += way(row, seat, door);
            }
            plan.append(' ').append(walk).append('\n');
        }
        return plan.append("END\n").toString();
    }

    private void @{fnCamel}(int port) throws IOException {
        try (ServerSocket house = new ServerSocket(port, @{queue}, InetAddress.getLoopbackAddress())) {
            while (true) {
                try (Socket door = house.accept()) {
                    door.setSoTimeout(2000);
                    BufferedReader in = new BufferedReader(new InputStreamReader(door.getInputStream(), StandardCharsets.US_ASCII));
                    String line = in.readLine();
                    if (line == null)
                        continue;
                    String[] words = line.split(" ");
                    sell();
                    door.getOutputStream().write(plan(Integer.parseInt(words[1])).getBytes(StandardCharsets.US_ASCII));
                } catch (IOException gone) {
                    System.err.println("a door has gone: " + gone.getMessage());
                }
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        new @{Class}().@{fnCamel}(@{port});
    }
}
