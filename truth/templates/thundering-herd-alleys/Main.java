import java.lang.management.ManagementFactory;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;

/** Keeps the scores of a bowling alley: a thread for each lane shows its players what the pinsetters tell. */
public class @{Class} {
    record Throw(int pins, long came) {}

    private static volatile boolean closing;

    private static long cpuTime() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static final class Lane extends Thread {
        private final Object bell;
        private final Queue<Throw> box = new ArrayDeque<>();
        private final List<Integer> rolls = new ArrayList<>();
        long units, late, used;
        int best;

        Lane(int number, Object bell) {
            super("lane-" + number);
            this.bell = bell;
        }

        private Throw @{fnCamel}() throws InterruptedException {
            synchronized (bell) {
                while (box.isEmpty() && !closing)
                    bell.wait();
                return box.poll();
            }
        }

        void @{ringCamel}(Throw next) {
            synchronized (bell) {
                box.add(next);
                bell.notifyAll();
            }
        }

        /** The score of the rolls so far, with strikes and spares. */
        private int score() {
            int sum = 0, at = 0;
            for (int frame = 0; frame < 10 && at < rolls.size(); frame++) {
                int first = rolls.get(at), second = at + 1 < rolls.size() ? rolls.get(at + 1) : 0, third = at + 2 < rolls.size() ? rolls.get(at + 2) : 0;
                sum += first + second + (first + second >= 10 ? third : 0);
                at += first == 10 ? 1 : 2;
            }
            return sum;
        }

        @Override
        public void run() {
            try {
                for (Throw next; (next = @{fnCamel}()) != null; ) {
                    late += System.nanoTime() - next.came > 500_000_000 ? 1 : 0;
                    rolls.add(next.pins);
                    best = Math.max(best, score());
                    if (rolls.size() > 20)
                        rolls.clear();
                    units++;
                }
            } catch (InterruptedException ended) {
                interrupt();
            }
            used = cpuTime();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Object hall = new Object();
        long units = 0, used = 0;
        List<Lane> lanes = new ArrayList<>();
        for (int i = 0; i < @{lanes}; i++)
            lanes.add(new Lane(i, @{shared} == 1 ? hall : new Object()));
        lanes.forEach(Thread::start);
        try (DatagramSocket pinsetters = new DatagramSocket(@{port}, InetAddress.getLoopbackAddress())) {
            pinsetters.setSoTimeout(300);
            DatagramPacket packet = new DatagramPacket(new byte[64], 64);
            used = -cpuTime();
            long began = System.nanoTime();
            while (System.nanoTime() - began < @{seconds} * 1e9) {
                packet.setLength(64);
                try {
                    pinsetters.receive(packet);
                } catch (SocketTimeoutException quiet) {
                    continue;
                }
                String[] words = new String(packet.getData(), 0, packet.getLength()).split(" ");
                int lane = Integer.parseInt(words[0]);
                Throw next = new Throw(Integer.parseInt(words[1]), System.nanoTime());
                for (Lane one : lane < 0 ? lanes : lanes.subList(lane, lane + 1))
                    one.@{ringCamel}(next);
            }
        }
        used += cpuTime();
        closing = true;
        for (Lane lane : lanes) {
            synchronized (lane.bell) {
                lane.bell.notifyAll();
            }
            lane.join();
            units += lane.units;
            used += lane.used;
        }
        System.out.println("best score: " + lanes.stream().mapToInt(lane -> lane.best).max().orElse(0));
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f}", units, used / 1e9));
    }
}
