// Plans the berths of a port: a ship is given the one that fits it best.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class @{Class} {
    static final int SHIPS = @{ships};

    record Ship(int number, int length, int beam, int draught) {
        static Ship of(String line) throws IOException {
            if (line == null) throw new IOException("the register is gone");
            String[] fields = line.split(" ");
            return new Ship(Integer.parseInt(fields[0]), Integer.parseInt(fields[1]), Integer.parseInt(fields[2]), Integer.parseInt(fields[3]));
        }
    }

    static class Entry {
        final Ship ship;
        private final long until;
        boolean ordered;

        Entry(Ship ship, double part) {
            this.ship = ship;
            until = System.nanoTime() + (long) (part * @{age} * 1e9);
        }

        boolean isOld() {
            return System.nanoTime() - until >= 0;
        }
    }

    /** The line to the register of ships; one question at a time. */
    static class Register {
        private final Socket line = new Socket(InetAddress.getLoopbackAddress(), @{register});
        private final BufferedReader answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));

        Register() throws IOException {
            line.setTcpNoDelay(true);
        }

        private void say(String text) throws IOException {
            line.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        }

        Ship ship(int number) throws IOException {
            say("ship " + number + "\n");
            return Ship.of(answers.readLine());
        }

        List<Ship> fleet(int count) throws IOException {
            say("fleet " + count + "\n");
            List<Ship> all = new ArrayList<>();
            while (all.size() < count) all.add(Ship.of(answers.readLine()));
            return all;
        }
    }

    static class Ships {
        private final ReentrantLock @{lock} = new ReentrantLock();
        private final Map<Integer, Entry> known = new HashMap<>();
        private final Register register = new Register();
        private final ExecutorService refresher = Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "refresher");
            thread.setDaemon(true);
            return thread;
        });

        Ships() throws IOException {
            for (Ship ship : register.fleet(SHIPS)) known.put(ship.number, new Entry(ship, ship.number * 7919L % SHIPS / (double) SHIPS));
        }

        Ship @{fnCamel}(int number) throws IOException {
            @{lock}.lock();
            try {
                Entry entry = known.get(number);
                if (!entry.isOld() || entry.ordered) return entry.ship;
                if ("@{stale}".equals("use")) {
                    entry.ordered = true;
                    refresher.submit(() -> refresh(number));
                    return entry.ship;
                }
                Ship fresh = register.ship(number);
                known.put(number, new Entry(fresh, 1));
                return fresh;
            } finally {
                @{lock}.unlock();
            }
        }

        private Void refresh(int number) throws IOException {
            Entry fresh = new Entry(register.ship(number), 1);
            @{lock}.lock();
            try {
                known.put(number, fresh);
            } finally {
                @{lock}.unlock();
            }
            return null;
        }
    }

    static int berth(Ship ship) {
        int best = -1, room = Integer.MAX_VALUE;
        for (int i = 0; i < @{berths}; i++) {
            int length = 3000 + i * 613 % 30000, depth = 300 + i * 97 % 1300;
            if (length >= ship.length + ship.beam / 2 && depth >= ship.draught + 50 && length < room) {
                best = i;
                room = length;
            }
        }
        return best;
    }

    static void talk(Socket pilot, Ships ships) {
        try (pilot; BufferedReader lines = new BufferedReader(new InputStreamReader(pilot.getInputStream(), StandardCharsets.UTF_8))) {
            pilot.setTcpNoDelay(true);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Ship ship = ships.@{fnCamel}((int) (Long.parseLong(line.substring(5)) * 31 % SHIPS));
                String answer = "ship " + ship.number + ": " + ship.length + " x " + ship.beam + " cm, berth " + berth(ship) + "\n";
                pilot.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException error) {
            System.err.println(error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        Ships ships = new Ships();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            for (int number = 1; ; number++) {
                Socket pilot = door.accept();
                new Thread(() -> talk(pilot, ships), "pilot-" + number).start();
            }
        }
    }
}
