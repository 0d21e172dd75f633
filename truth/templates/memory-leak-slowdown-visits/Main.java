import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers what a visitor of the shop may like next: from the pages that this visitor and the ones before looked at. */
public class @{Class} {
    /** One look at an article. */
    private record Look(int article, long at) {
    }

    /** One visitor, from the first page to the last. */
    private static final class Visit {
        final int number;
        final List<Look> looks;

        Visit(int number) {
            this.number = number;
            this.looks = new ArrayList<>(@{looks});
            for (int i = 0; i < @{looks}; i++) {
                looks.add(new Look((number * 31 + i * i) % 9000, number * 1000L + i));
            }
        }
    }

    private final ArrayDeque<Visit> visits = new ArrayDeque<>();
    private final PrintWriter log;
    private int next;

    @{Class}(PrintWriter log) {
        this.log = log;
        // Those of the day so far come from the files of the evening before.
        while (visits.size() < @{most} * 9 / 10) {
            @{fnCamel}(next++);
        }
    }

    private synchronized Visit @{fnCamel}(int number) {
        Visit visit = new Visit(number);
        visits.addLast(visit);
        if (visits.size() > @{most}) {
            visits.removeFirst();
        }
        return visit;
    }

    /** What goes with what this visitor saw: words of the articles, counted and sorted. */
    private static String liked(Visit visit) {
        List<String> best = List.of();
        for (int pass = 0; pass < @{effort}; pass++) {
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 0; i < @{words}; i++) {
                Look look = visit.looks.get((i * 7 + pass) % visit.looks.size());
                counts.merge("article-" + (look.article() * 17 + i % 40) % 5000, 1, Integer::sum);
            }
            List<Map.Entry<String, Integer>> sorted = new ArrayList<>(counts.entrySet());
            sorted.sort(Collections.reverseOrder(Map.Entry.comparingByValue()));
            best = sorted.stream().limit(5).map(Map.Entry::getKey).toList();
        }
        return String.join(",", best);
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            OutputStream out = socket.getOutputStream();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String answer = "nothing";
                if (line.startsWith("look ")) {
                    int number;
                    // A page is made of frames, and each of them comes by itself.
                    synchronized (this) {
                        number = next += 25;
                    }
                    Visit visit = @{fnCamel}(number);
                    for (int frame = 1; frame < 25; frame++) {
                        @{fnCamel}(number + frame);
                    }
                    answer = liked(visit);
                }
                out.write((answer + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException error) {
            log.println("visitor left: " + error.getMessage());
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} shop = new @{Class}(new PrintWriter(Files.newBufferedWriter(Path.of("@{work}/visits.log")), true));
        ExecutorService pool = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            shop.log.println("open, " + shop.visits.size() + " visits");
            while (true) {
                Socket socket = door.accept();
                pool.execute(() -> shop.serve(socket));
            }
        }
    }
}
