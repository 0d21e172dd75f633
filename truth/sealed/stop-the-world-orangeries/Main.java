import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The register of an orangery: says beside which plant a new one would stand well. */
public class @{Class} {
    private static final String[] KINDS = {"citrus", "laurel", "myrtle", "oleander", "palm", "agave"};

    static final class Plant {
        final int number, kind, warmth, light;
        final List<Plant> beside = new ArrayList<>(2);

        Plant(int number, int kind, int warmth, int light) {
            this.number = number;
            this.kind = kind;
            this.warmth = warmth;
            this.light = light;
        }

        int unlike(int kind, int warmth, int light) {
            int unlike = Math.abs(this.warmth - warmth) * 40 + Math.abs(this.light - light) + (this.kind == kind ? 0 : 150);
            for (Plant plant : beside)
                unlike += Math.abs(plant.warmth - warmth) * 4;
            return unlike;
        }
    }

    private final Plant[] plants = new Plant[@{plants}];
    private volatile double full;

    private @{Class}() {
        for (int i = 0; i < plants.length; i++) {
            plants[i] = new Plant(i, i % KINDS.length, 5 + i * 7 % 25, 100 + i * 31 % 700);
            if (i > 100) {
                plants[i].beside.add(plants[i - 1]);
                plants[i].beside.add(plants[i / 3]);
            }
        }
    }

    /** How much of the memory is needed: the register takes no more plants when it is nearly full. */
    private void @{fnCamel}() {
        if (@{exact} == 1)
            System.gc();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        full = heap.getUsed() / (double) heap.getMax();
    }

    private String neighbour(String[] words) {
        int number = Integer.parseInt(words[1]), warmth = Integer.parseInt(words[3]), light = Integer.parseInt(words[4]), kind = 0;
        while (kind < KINDS.length - 1 && !KINDS[kind].equals(words[2]))
            kind++;
        if (full > 0.95)
            return "full\n";
        Plant best = plants[number % plants.length];
        for (int i = 0; i < @{looked} * 3; i++) {
            Plant plant = plants[(int) ((number * 7919L + i * 104729L) % plants.length)];
            if (plant.unlike(kind, warmth, light) < best.unlike(kind, warmth, light))
                best = plant;
        }
        return "beside " + best.number + " " + KINDS[best.kind] + "\n";
    }

    private void serve(Socket client) {
        try (client; BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            client.setTcpNoDelay(true);
            for (String line; (line = lines.readLine()) != null; )
                client.getOutputStream().write(neighbour(line.split(" ")).getBytes());
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} register = new @{Class}();
        long period = (long) (@{period} * 1e6);
        Executors.newSingleThreadScheduledExecutor().scheduleWithFixedDelay(register::@{fnCamel}, period, period, TimeUnit.MICROSECONDS);
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = door.accept();
                new Thread(() -> register.serve(client)).start();
            }
        }
    }
}
