import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** A box office: gives each guest a seat that is left. A standby in another house knows the same a little later. */
public class @{Class} {
    static final int ROWS = @{rows}, SEATS = @{seats}, BLOCKS = @{blocks};

    record Sale(int seat, int guest) {}

    static final ReentrantLock @{lock} = new ReentrantLock();
    static final int[] guests = new int[ROWS * SEATS];
    static List<Sale> changed = new ArrayList<>();
    static int left = ROWS * SEATS;

    static int reserve(int guest) {
        @{lock}.lock();
        try {
            if (left < 10) {
                java.util.Arrays.fill(guests, 0);
                left = guests.length;
            }
            int seat = (int) (guest * 7919L % guests.length);
            while (guests[seat] != 0) {
                seat = (seat + 1) % guests.length;
            }
            guests[seat] = guest + 1;
            left--;
            changed.add(new Sale(seat, guest));
            return seat;
        } finally {
            @{lock}.unlock();
        }
    }

    static double quality(int row, int seat, int round) {
        double x = seat - SEATS / 2.0, y = row + 3;
        double angle = Math.abs(Math.atan2(x, y)) + round * 1e-6;
        return Math.exp(-(y - 11) * (y - 11) / 200) * Math.cos(angle);
    }

    /** What a seat costs, by how well one sees and hears there and in all of the hall. */
    static double price(int seat) {
        double best = 0, sum = 0;
        for (int round = 0; round < @{rounds}; round++) {
            for (int other = 0; other < ROWS * SEATS; other++) {
                double quality = quality(other / SEATS, other % SEATS, round);
                best = Math.max(best, quality);
                sum += quality;
            }
        }
        return 15 + 80 * quality(seat / SEATS, seat % SEATS, 0) / best + sum % 1;
    }

    static class Standby {
        final SocketChannel line = SocketChannel.open(StandardProtocolFamily.UNIX);

        Standby() throws IOException {
            line.connect(UnixDomainSocketAddress.of("@{work}/@{sock}"));
        }

        void tell(List<Sale> block) throws IOException {
            ByteBuffer frame = ByteBuffer.allocate(4 + 8 * block.size()).putInt(block.size());
            block.forEach(sale -> frame.putInt(sale.seat).putInt(sale.guest));
            frame.flip();
            while (frame.hasRemaining()) {
                line.write(frame);
            }
            ByteBuffer receipt = ByteBuffer.allocate(4);
            while (receipt.hasRemaining()) {
                if (line.read(receipt) < 0) {
                    throw new IOException("the standby is gone");
                }
            }
        }

        void tellAll(List<Sale> sales) throws IOException {
            for (int block = 0; block < BLOCKS; block++) {
                tell(sales.subList(sales.size() * block / BLOCKS, sales.size() * (block + 1) / BLOCKS));
            }
        }
    }

    static void @{fnCamel}(Standby standby) throws IOException {
        List<Sale> sales;
        @{lock}.lock();
        try {
            sales = changed;
            changed = new ArrayList<>();
            if (@{inside} == 1) {
                standby.tellAll(sales);
                return;
            }
        } finally {
            @{lock}.unlock();
        }
        standby.tellAll(sales);
    }

    static void mirror() {
        try {
            Standby standby = new Standby();
            while (true) {
                @{fnCamel}(standby);
                Thread.sleep((long) @{every}, (int) (@{every} % 1 * 1e6));
            }
        } catch (IOException | InterruptedException error) {
            System.err.println("standby: " + error);
            System.exit(1);
        }
    }

    static void serve(Socket guest) {
        try (guest; BufferedReader lines = new BufferedReader(new InputStreamReader(guest.getInputStream()))) {
            guest.setTcpNoDelay(true);
            for (String line; (line = lines.readLine()) != null;) {
                int seat = reserve(Integer.parseInt(line.substring(line.indexOf(' ') + 1)));
                String text = String.format("row %d seat %d for %.2f%n", seat / SEATS + 1, seat % SEATS + 1, price(seat));
                guest.getOutputStream().write(text.getBytes());
            }
        } catch (IOException error) {
            System.err.println("guest: " + error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        new Thread(@{Class}::mirror, "standby").start();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            for (int number = 0;; number++) {
                Socket guest = door.accept();
                new Thread(() -> serve(guest), "counter-" + number).start();
            }
        }
    }
}
