import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Warns orchards of frost. */
public class @{Class} {
    static final Path TABLE = Path.of("@{work}/@{folder}/@{stations}");
    static final int RECORD = 64, BASIN = 40;

    record Station(int number, int east, int north, int warmth) {
        int far(int x, int y) {
            return Math.abs(east - x) + Math.abs(north - y);
        }
    }

    /** Knows the stations; one thread asks it. */
    static class Knower {
        private ByteBuffer room = ByteBuffer.allocateDirect(0);
        private boolean holds;

        private ByteBuffer @{fnCamel}() throws IOException {
            if (holds) {
                return room;
            }
            try (FileChannel table = FileChannel.open(TABLE, StandardOpenOption.READ)) {
                if (room.capacity() < table.size()) {
                    room = ByteBuffer.allocateDirect((int) table.size()).order(ByteOrder.LITTLE_ENDIAN);
                }
                room.clear();
                while (room.hasRemaining() && table.read(room) > 0) {
                    continue;
                }
                room.flip();
            }
            holds = @{holds} == 1;
            return room;
        }

        String look(int orchard) throws IOException {
            ByteBuffer table = @{fnCamel}();
            int x = (int) (orchard * 7919L % 360000), y = (int) (orchard * 104729L % 180000), count = table.limit() / RECORD;
            Station best = null;
            for (int i = 0; i < BASIN; i++) {
                int at = (orchard % 251 * BASIN + i) % count * RECORD;
                Station one = new Station(table.getInt(at), table.getInt(at + 4), table.getInt(at + 8), table.getInt(at + 12));
                if (best == null || one.far(x, y) < best.far(x, y)) {
                    best = one;
                }
            }
            int night = best.warmth - 40 - best.far(x, y) / 9000;
            return "orchard " + orchard + ": " + (night < 0 ? "frost" : "mild") + " by station " + best.number + ", " + night / 10.0 + " degrees\n";
        }
    }

    public static void main(String[] arguments) throws IOException {
        ExecutorService desk = Executors.newSingleThreadExecutor(work -> new Thread(work, "knower"));
        Knower knower = new Knower();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket grower = door.accept();
                new Thread(() -> talk(grower, desk, knower)).start();
            }
        }
    }

    static void talk(Socket grower, ExecutorService desk, Knower knower) {
        try (grower) {
            grower.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(grower.getInputStream()));
            for (String line; (line = in.readLine()) != null; ) {
                int orchard = Integer.parseInt(line.substring(6));
                CompletableFuture<String> told = new CompletableFuture<>();
                desk.execute(() -> {
                    try {
                        told.complete(knower.look(orchard));
                    } catch (IOException e) {
                        told.completeExceptionally(e);
                    }
                });
                grower.getOutputStream().write(told.join().getBytes());
            }
        } catch (IOException e) {
            System.err.println(e);
        }
    }
}
