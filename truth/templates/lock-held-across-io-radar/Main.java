import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/** A rain radar: "rain N" is answered by how much rain there is in direction N. Each picture goes to the archive. */
public class @{Class} {
    private static final int BEAMS = 64, KEPT = 4;

    private final ReentrantLock @{lock} = new ReentrantLock();
    private final ByteBuffer[] beams = new ByteBuffer[BEAMS];

    private @{Class}() {
        for (int direction = 0; direction < BEAMS; direction++) {
            beams[direction] = ByteBuffer.allocateDirect(@{kb} * 1024);
            for (int gate = 0; gate < @{kb} * 1024; gate++)
                beams[direction].put(gate, (byte) (gate * (direction + 3) >> 5));
        }
    }

    private ByteBuffer @{look}(int direction) {
        @{lock}.lock();
        try {
            return beams[direction % BEAMS];
        } finally {
            @{lock}.unlock();
        }
    }

    /** The antenna has turned on: one beam is new. */
    private void turn(int sweep) {
        ByteBuffer beam = @{look}(sweep * 7), fresh = ByteBuffer.allocateDirect(beam.capacity());
        fresh.put(beam.duplicate()).clear();
        for (int gate = sweep % 16; gate < fresh.capacity(); gate += 16)
            fresh.put(gate, (byte) (fresh.get(gate) + 3));
        @{lock}.lock();
        try {
            beams[sweep * 7 % BEAMS] = fresh;
        } finally {
            @{lock}.unlock();
        }
    }

    private static Path path(int sweep) {
        return Path.of("@{work}/@{archive}", String.format("sweep-%06d.vol", sweep));
    }

    private static void store(int sweep, ByteBuffer[] picture) throws IOException {
        try (FileChannel file = FileChannel.open(path(sweep), StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            for (ByteBuffer beam : picture)
                file.write(beam.duplicate());
            file.force(true);
        }
    }

    private void @{fnCamel}(int sweep) throws IOException {
        ByteBuffer[] picture;
        @{lock}.lock();
        try {
            if (@{inside} == 1) {
                store(sweep, beams);
                return;
            }
            picture = beams.clone();
        } finally {
            @{lock}.unlock();
        }
        store(sweep, picture);
    }

    private void archive() {
        try {
            for (int sweep = 1; ; sweep++) {
                turn(sweep);
                try {
                    @{fnCamel}(sweep);
                } catch (IOException error) {
                    System.err.println("sweep " + sweep + ": " + error);
                }
                if (sweep > KEPT)
                    Files.deleteIfExists(path(sweep - KEPT));
                Thread.sleep((long) @{every}, (int) (@{every} % 1 * 1e6));
            }
        } catch (IOException | InterruptedException error) {
            System.err.println(error);
        }
    }

    private void serve(Socket tower) {
        try (tower; BufferedReader lines = new BufferedReader(new InputStreamReader(tower.getInputStream(), StandardCharsets.US_ASCII))) {
            tower.setTcpNoDelay(true);
            OutputStream out = tower.getOutputStream();
            for (String line; (line = lines.readLine()) != null; ) {
                int direction = Integer.parseInt(line.substring("rain ".length()));
                ByteBuffer beam = @{look}(direction);
                int step = Math.max(1, beam.capacity() / @{gates});
                double rain = 0;
                for (int gate = 0; gate < beam.capacity(); gate += step)
                    rain += Math.pow(10, (beam.get(gate) & 0xff) / 160.0) * 0.0365;
                out.write(String.format(Locale.ROOT, "%d %.2f mm%n", direction, rain / @{gates}).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} radar = new @{Class}();
        Thread archivist = new Thread(radar::archive, "archive");
        archivist.setDaemon(true);
        archivist.start();
        ExecutorService towers = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket tower = door.accept();
                towers.submit(() -> radar.serve(tower));
            }
        }
    }
}
