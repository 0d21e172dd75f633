import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Adler32;

/** The registrar of a collection of wall paintings; makes the file for each one that goes on loan. */
public class @{Class} {
    record Office(String name, Socket socket, BufferedReader in) {
        static Office at(String name, int port) throws IOException {
            Socket socket = new Socket("127.0.0.1", port);
            socket.setTcpNoDelay(true);
            return new Office(name, socket, new BufferedReader(new InputStreamReader(socket.getInputStream())));
        }

        String terms(String ask) {
            try {
                socket.getOutputStream().write((name + " " + ask + "\n").getBytes(StandardCharsets.UTF_8));
                return in.readLine().substring(6);
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }
    }

    private final List<Office> offices = new ArrayList<>();
    private final ExecutorService couriers = Executors.newFixedThreadPool(5, task -> {
        Thread thread = new Thread(task, "courier");
        thread.setDaemon(true);
        return thread;
    });
    private long spent;

    private List<String> @{fnCamel}(String fresco) {
        List<String> said = new ArrayList<>();
        long start = System.nanoTime();
        for (Office office : offices) said.add(office.terms(fresco));
        spent += System.nanoTime() - start;
        return said;
    }

    private List<String> together(String fresco) {
        List<CompletableFuture<String>> asked = new ArrayList<>();
        for (Office office : offices) asked.add(CompletableFuture.supplyAsync(() -> office.terms(fresco), couriers));
        return asked.stream().map(CompletableFuture::join).toList();
    }

    private List<String> onward(String fresco) {
        List<String> said = new ArrayList<>(List.of(fresco));
        for (Office office : offices) said.add(office.terms(said.get(said.size() - 1)));
        return said;
    }

    private long file(String fresco, List<String> said) {
        Adler32 mark = new Adler32();
        byte[] text = (fresco + String.join(";", said)).getBytes(StandardCharsets.UTF_8);
        long end = System.nanoTime() + (long) (@{work_ms} * 1e6);
        while (System.nanoTime() < end) mark.update(text);
        return mark.getValue();
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} registrar = new @{Class}();
        String[] names = {"insurer", "customs", "carrier", "restorer", "lender"};
        int[] ports = {@{p1}, @{p2}, @{p3}, @{p4}, @{p5}};
        for (int i = 0; i < names.length; i++) registrar.offices.add(Office.at(names[i], ports[i]));
        long units = 0, busy = 0, marks = 0, began = System.nanoTime(), due = began;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            String fresco = "fresco-" + units;
            List<String> said = switch ("@{how}") {
                case "once" -> registrar.together(fresco);
                case "chain" -> registrar.onward(fresco);
                default -> registrar.@{fnCamel}(fresco);
            };
            marks ^= registrar.file(fresco, said);
            busy += System.nanoTime() - start;
            units++;
            due = Math.max(due + (long) (1e9 / @{rate}), System.nanoTime());
            Thread.sleep(Math.max(0, due - System.nanoTime()) / 1000000);
        }
        System.err.println("marks " + marks);
        Files.writeString(Path.of("@{report}"),
            "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + registrar.spent / 1e9 + "}");
    }
}
