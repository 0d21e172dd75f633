import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** The start page: basket, offers, news and the customer's points. */
public class @{Class} {
    static final ExecutorService CALLS = Executors.newFixedThreadPool(24);
    static final List<Service> SERVICES = List.of(new Service(@{one}), new Service(@{two}), new Service(@{three}), new Service(@{four}));

    /** A service with a few lines to it that are kept. */
    static final class Service {
        private final int port;
        private final BlockingDeque<Line> idle = new LinkedBlockingDeque<>();

        Service(int port) {
            this.port = port;
        }

        String ask(String what) {
            try {
                Line line = idle.pollFirst();
                if (line == null) line = new Line(port);
                String answer = line.ask(what);
                idle.addFirst(line);
                return answer;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static final class Line {
        private final BufferedReader in;
        private final OutputStream out;

        Line(int port) throws IOException {
            Socket socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            out = socket.getOutputStream();
        }

        String ask(String what) throws IOException {
            out.write((what + "\n").getBytes(StandardCharsets.US_ASCII));
            return in.readLine();
        }
    }

    static List<String> @{fnCamel}(String path) throws InterruptedException, ExecutionException {
        List<String> answers = new ArrayList<>();
        String order = "@{order}";
        if (order.equals("chain")) {
            String token = path;
            for (Service service : SERVICES) {
                answers.add(service.ask(token));
                token = answers.get(answers.size() - 1).substring(6, 12);
            }
            return answers;
        }
        List<Callable<String>> parts = new ArrayList<>();
        for (int i = 0; i < SERVICES.size() * @{each}; i++) {
            Service service = SERVICES.get(i % SERVICES.size());
            String what = path + "-" + i;
            if (order.equals("together")) parts.add(() -> service.ask(what));
            else answers.add(service.ask(what));
        }
        for (Future<String> part : CALLS.invokeAll(parts)) answers.add(part.get());
        return answers;
    }

    static void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            for (String ask; (ask = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) ;
                String page = String.join("\n", @{fnCamel}(ask.split(" ")[1]));
                long mark = 0;
                for (int i = 0; i < @{rounds} * 50; i++) mark = mark * 31 + page.charAt(i % page.length());
                String text = "HTTP/1.1 200 OK\r\nETag: " + mark + "\r\nContent-Length: " + page.length() + "\r\n\r\n" + page;
                client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException | NullPointerException e) {
            System.err.println(e);
        } catch (InterruptedException | ExecutionException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 3; i++) @{fnCamel}("/warm");
        ServerSocket server = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket client = server.accept();
            new Thread(() -> serve(client), "page").start();
        }
    }
}
