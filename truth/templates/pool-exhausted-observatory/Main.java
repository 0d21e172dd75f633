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
import java.util.Locale;
import java.util.Random;

/** The desk of an observatory: an astronomer asks for a plate by its number and is told where it points and how high that stands. */
public class @{Class} {
    record Star(double x, double y, double magnitude) {}

    record Pointing(double ascension, double declination, double angle) {}

    /** One line to the plate solver; each of the desks has its own. */
    static final class SolverLine {
        private final BufferedReader answers;
        private final OutputStream questions;

        SolverLine(int port) throws IOException {
            Socket line = new Socket("127.0.0.1", port);
            line.setTcpNoDelay(true);
            answers = new BufferedReader(new InputStreamReader(line.getInputStream(), StandardCharsets.US_ASCII));
            questions = line.getOutputStream();
        }

        Pointing @{fnCamel}(int plate, List<Star> brightest) throws IOException {
            StringBuilder question = new StringBuilder("SOLVE ").append(plate);
            for (Star star : brightest)
                question.append(String.format(Locale.ROOT, " %.2f %.2f", star.x(), star.y()));
            questions.write(question.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
            String answer = answers.readLine();
            if (answer == null || !answer.startsWith("OK "))
                throw new IOException("solver: " + answer);
            String[] words = answer.split(" ");
            return new Pointing(Double.parseDouble(words[2]), Double.parseDouble(words[3]), Double.parseDouble(words[4]));
        }
    }

    /** Takes whoever comes next to the door. */
    static final class Desk implements Runnable {
        private final ServerSocket door;
        private final SolverLine solver;

        Desk(ServerSocket door) throws IOException {
            this.door = door;
            solver = new SolverLine(@{solver});
        }

        @Override
        public void run() {
            while (true) {
                try (Socket visitor = door.accept()) {
                    serve(visitor);
                } catch (IOException | RuntimeException e) {
                    System.err.println("visitor: " + e);
                }
            }
        }

        private void serve(Socket visitor) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(visitor.getInputStream(), StandardCharsets.US_ASCII));
            String first = in.readLine();
            if (first == null)
                return;
            for (String header = in.readLine(); header != null && !header.isEmpty(); )
                header = in.readLine();
            int plate = Integer.parseInt(first.split(" ")[1].substring("/plates/".length()));
            List<Star> stars = detected(plate);
            Pointing pointing = solver.@{fnCamel}(plate, stars.subList(0, 8));
            String body = card(plate, stars, pointing);
            String head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " + body.length() + "\r\n\r\n";
            visitor.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
        }
    }

    static List<Star> detected(int plate) {
        Random chance = new Random(plate);
        List<Star> stars = new ArrayList<>();
        for (int i = 0; i < @{stars}; i++)
            stars.add(new Star(chance.nextDouble() * 4096, chance.nextDouble() * 4096, 6 + chance.nextGaussian()));
        stars.sort(Comparator.comparingDouble(Star::magnitude));
        return stars;
    }

    static String card(int plate, List<Star> stars, Pointing at) {
        double latitude = Math.toRadians(@{latitude}), declination = Math.toRadians(at.declination());
        StringBuilder card = new StringBuilder();
        card.append(String.format(Locale.ROOT, "plate %d%n%.5f %.5f, turned %.3f%n", plate, at.ascension(), at.declination(), at.angle()));
        for (int hour = -6; hour <= 6; hour++) {
            double sine = Math.sin(latitude) * Math.sin(declination) + Math.cos(latitude) * Math.cos(declination) * Math.cos(Math.toRadians(hour * 15));
            double height = Math.toDegrees(Math.asin(sine));
            card.append(String.format(Locale.ROOT, "%+d h: %.2f, air mass %.3f%n", hour, height, height > 5 ? 1 / sine : 0));
        }
        double light = stars.stream().mapToDouble(star -> Math.pow(10, -0.4 * star.magnitude())).sum();
        return card.append(String.format(Locale.ROOT, "all stars: %.3f mag%n", -2.5 * Math.log10(light))).toString();
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket door = new ServerSocket(@{port}, 128, InetAddress.getByName("127.0.0.1"));
        for (int i = 0; i < @{hands}; i++)
            new Thread(new Desk(door), "desk-" + i).start();
    }
}
