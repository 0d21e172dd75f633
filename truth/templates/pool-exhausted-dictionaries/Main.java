import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** Articles of a dictionary, by line: "look 17" is answered with the article and the forms of its headword. */
public class @{Class} {
    static final String[] SYLLABLES = {"ba", "fer", "lin", "mo", "rat", "su", "ten", "wol"};
    static final NavigableMap<Integer, String> HEADWORDS = new TreeMap<>();

    /** A line to the service of forms, kept by each worker for as long as it lives. */
    static final class Inflector {
        private final BufferedReader in;
        private final OutputStream out;

        Inflector() throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), @{forms});
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = socket.getOutputStream();
        }

        List<String> @{fnCamel}(String stem) throws IOException {
            out.write((stem + "\n").getBytes(StandardCharsets.UTF_8));
            String line = in.readLine();
            if (line == null)
                throw new EOFException("the service of forms went away");
            return List.of(line.split(" "));
        }
    }

    static final ThreadLocal<Inflector> INFLECTOR = ThreadLocal.withInitial(() -> {
        try {
            return new Inflector();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    });

    static String article(int number) throws IOException {
        var entry = HEADWORDS.ceilingEntry(number % HEADWORDS.size());
        String word = entry.getValue();
        List<String> forms = INFLECTOR.get().@{fnCamel}(word);
        StringBuilder text = new StringBuilder(word).append(" (").append(entry.getKey()).append("): ");
        for (String form : forms)
            text.append(form).append(form.length() > word.length() + 2 ? "*, " : ", ");
        var neighbour = HEADWORDS.higherEntry(entry.getKey());
        return text.append("see also ").append(neighbour == null ? "-" : neighbour.getValue()).toString();
    }

    static void answer(Socket reader) {
        try (reader) {
            reader.setTcpNoDelay(true);
            var in = new BufferedReader(new InputStreamReader(reader.getInputStream(), StandardCharsets.UTF_8));
            String line = in.readLine();
            if (line == null)
                return;
            String[] words = line.split(" ");
            String text = words.length == 2 && words[0].equals("look") ? article(Integer.parseInt(words[1])) : "what?";
            reader.getOutputStream().write((text + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException | RuntimeException error) {
            System.err.println(error);
        }
    }

    public static void main(String[] args) throws IOException {
        Random chance = new Random(7);
        for (int i = 0; i < @{words}; i++) {
            StringBuilder word = new StringBuilder();
            for (int n = 2 + chance.nextInt(3); n > 0; n--)
                word.append(SYLLABLES[chance.nextInt(SYLLABLES.length)]);
            HEADWORDS.put(i, word.toString());
        }
        ExecutorService desk = Executors.newFixedThreadPool(@{workers});
        try (ServerSocket door = new ServerSocket(@{port}, 128, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket reader = door.accept();
                desk.submit(() -> answer(reader));
            }
        }
    }
}
