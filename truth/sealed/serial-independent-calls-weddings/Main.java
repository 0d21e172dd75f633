import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Answers enquiries for weddings with an offer of what the suppliers have. */
public class @{Class} {
    static final String[] NAMES = { "venue", "kitchen", "band", "flowers", "pictures", "cars" };
    static final Pattern ANSWER = Pattern.compile("\\{\"day\":(\\d+),\"free\":(true|false),\"price\":(\\d+)");

    record Answer(int day, boolean free, int price) {
        static Answer of(String text) {
            Matcher found = ANSWER.matcher(text);
            if (!found.lookingAt())
                throw new IllegalArgumentException(text);
            return new Answer(Integer.parseInt(found.group(1)), found.group(2).equals("true"), Integer.parseInt(found.group(3)));
        }
    }

    record Tally(long units, long busy, long asking) {
        Tally plus(Tally other) {
            return new Tally(units + other.units, busy + other.busy, asking + other.asking);
        }
    }

    static final class Suppliers {
        private final ExecutorService errands = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "errand");
            thread.setDaemon(true);
            return thread;
        });

        private Answer ask(int supplier, int day) throws IOException {
            URL at = new URL("http", "127.0.@{net}." + (11 + supplier), @{desk}, "/" + NAMES[supplier] + "/days/" + day);
            HttpURLConnection question = (HttpURLConnection) at.openConnection();
            question.setReadTimeout(10_000);
            try (InputStream body = question.getInputStream()) {
                return Answer.of(new String(body.readAllBytes(), StandardCharsets.UTF_8));
            }
        }

        List<Answer> @{fnCamel}(int day) throws Exception {
            List<Answer> answers = new ArrayList<>();
            if ("@{order}".equals("once")) {
                List<Callable<Answer>> questions = new ArrayList<>();
                for (int i = 0; i < NAMES.length; i++) {
                    int supplier = i;
                    questions.add(() -> ask(supplier, day));
                }
                for (Future<Answer> coming : errands.invokeAll(questions))
                    answers.add(coming.get());
                return answers;
            }
            int wanted = day;
            for (int i = 0; i < NAMES.length; i++) {
                Answer answer = ask(i, wanted);
                if ("@{order}".equals("agree"))
                    wanted = answer.day();
                answers.add(answer);
            }
            return answers;
        }
    }

    record Planner(Suppliers suppliers, long end) implements Callable<Tally> {
        @Override
        public Tally call() throws Exception {
            long units = 0, busy = 0, asking = 0;
            try (Socket mailbox = new Socket("127.0.0.1", @{mailbox})) {
                mailbox.setTcpNoDelay(true);
                BufferedReader enquiries = new BufferedReader(new InputStreamReader(mailbox.getInputStream(), StandardCharsets.US_ASCII));
                OutputStream offers = mailbox.getOutputStream();
                String line;
                while (System.nanoTime() - end < 0 && (line = enquiries.readLine()) != null) {
                    long start = System.nanoTime();
                    String[] words = line.split(" ");
                    List<Answer> answers = suppliers.@{fnCamel}(Integer.parseInt(words[2]));
                    asking += System.nanoTime() - start;
                    int price = Integer.parseInt(words[3]) * 81 + answers.stream().mapToInt(Answer::price).sum();
                    long free = answers.stream().filter(Answer::free).count();
                    offers.write(("offer " + words[1] + " " + price + " " + free + " of " + NAMES.length + "\n").getBytes(StandardCharsets.US_ASCII));
                    units++;
                    busy += System.nanoTime() - start;
                }
            }
            return new Tally(units, busy, asking);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Suppliers suppliers = new Suppliers();
        // The office opens when all of them have told of the coming week.
        int free = 0;
        for (int day = 0; day < 7; day++)
            free += (int) suppliers.@{fnCamel}(day).stream().filter(Answer::free).count();
        System.out.println("this week: " + free + " of " + 7 * NAMES.length);
        ExecutorService office = Executors.newFixedThreadPool(@{planners});
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        List<Future<Tally>> planners = new ArrayList<>();
        for (int i = 0; i < @{planners}; i++)
            planners.add(office.submit(new Planner(suppliers, end)));
        Tally all = new Tally(0, 0, 0);
        for (Future<Tally> planner : planners)
            all = all.plus(planner.get());
        office.shutdown();
        String text = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", all.units(), all.busy() / 1e9, all.asking() / 1e9);
        Files.writeString(Path.of("@{report}"), text);
        System.exit(0);
    }
}
