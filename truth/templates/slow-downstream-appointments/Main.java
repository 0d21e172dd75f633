import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** The reception of a clinic: proposes appointments to those who call. */
public class @{Class} {
    record Proposal(int doctor, int quarter, double inconvenience) {
        String text() {
            return String.format("%02d:%02d Dr. %d", quarter / 4, quarter % 4 * 15, doctor);
        }
    }

    static final int PATIENTS = @{patients};
    static final AtomicLong answered = new AtomicLong();
    static final double[][] habits = new double[PATIENTS][96];

    static void loadHabits() {
        for (int patient = 0; patient < PATIENTS; patient++) {
            for (int quarter = 0; quarter < 96; quarter++) {
                habits[patient][quarter] = Math.abs(Math.sin(patient * 0.37 + quarter * 0.11));
            }
        }
    }

    /** How ill a time fits: as it did for those with like habits. */
    static double inconvenience(int patient, int quarter) {
        double sum = 0;
        for (int other = 0; other < PATIENTS; other++) {
            double apart = habits[patient][quarter] - habits[other][quarter];
            sum += Math.exp(-apart * apart) * habits[other][(quarter + 1) % 96];
        }
        return sum / PATIENTS;
    }

    static class Planner implements AutoCloseable {
        final Socket line = new Socket(InetAddress.getLoopbackAddress(), @{planner});
        final BufferedReader answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));

        Planner() throws IOException {
            line.setTcpNoDelay(true);
        }

        String plan(int day, int treatment) throws IOException {
            line.getOutputStream().write(("plan " + day + " " + treatment + "\n").getBytes(StandardCharsets.US_ASCII));
            return answers.readLine();
        }

        @Override
        public void close() throws IOException {
            line.close();
        }
    }

    static List<Proposal> proposals(String plan, int patient) {
        List<Proposal> found = new ArrayList<>();
        for (String word : plan.split(" ")) {
            int at = word.indexOf('@');
            if (at > 0) {
                int quarter = Integer.parseInt(word.substring(at + 1));
                found.add(new Proposal(Integer.parseInt(word.substring(0, at)), quarter, inconvenience(patient, quarter)));
            }
        }
        found.sort(Comparator.comparingDouble(Proposal::inconvenience));
        return found;
    }

    static void serve(Socket caller) {
        try (caller; Planner planner = new Planner()) {
            caller.setTcpNoDelay(true);
            BufferedReader lines = new BufferedReader(new InputStreamReader(caller.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = caller.getOutputStream();
            for (String line; (line = lines.readLine()) != null;) {
                int number = Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
                List<Proposal> found = proposals(planner.plan(number * 13 % 260, number), number % PATIENTS);
                StringBuilder text = new StringBuilder("proposals");
                found.stream().limit(3).forEach(proposal -> text.append(", ").append(proposal.text()));
                out.write(text.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
                answered.incrementAndGet();
            }
        } catch (IOException error) {
            System.err.println("caller: " + error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        loadHabits();
        ExecutorService desks = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket caller = door.accept();
                desks.execute(() -> serve(caller));
            }
        }
    }
}
