import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.jar.*;
import java.util.zip.*;

public class @{Class} {
    static final String SEASON = "@{work}/@{archive}", HOW = "@{how}";

    static String nameOf(int n) {
        int item = n % @{asked} * (@{entries} / @{asked});
        String number = Integer.toString(100000 + item).substring(1);
        return "@{season}/" + Integer.toString(100 + item % 40).substring(1) + "/item-" + number + ".txt";
    }

    interface Texts {
        String text(String name) throws IOException;
    }

    static String read(ZipFile archive, String name) throws IOException {
        try (InputStream in = archive.getInputStream(archive.getEntry(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    static class Archive implements Texts {
        public String text(String name) throws IOException { return @{fnCamel}(name); }

        private String @{fnCamel}(String name) throws IOException {
            try (JarFile archive = new JarFile(new File(SEASON), false)) {
                return read(archive, name);
            }
        }
    }

    static class Shelf implements Texts {
        private final ZipFile archive = new ZipFile(SEASON);
        private final Map<String, String> texts = new ConcurrentHashMap<>();

        Shelf() throws IOException { }

        public String text(String name) throws IOException {
            String text = texts.get(name);
            if (text == null)
                texts.put(name, text = read(archive, name));
            return text;
        }
    }

    static long proof(String label) {
        CRC32 sum = new CRC32();
        sum.update(label.getBytes(StandardCharsets.UTF_8));
        for (int i = 0; i < @{proof}; i++)
            sum.update((int) sum.getValue() ^ i);
        return sum.getValue();
    }

    static void serve(Socket line, Texts texts) {
        try (line; BufferedReader questions = new BufferedReader(new InputStreamReader(line.getInputStream()))) {
            line.setTcpNoDelay(true);
            for (String question; (question = questions.readLine()) != null; ) {
                int n = Integer.parseInt(question.substring(6));
                // The souvenir's own text, and below it what goes well with it.
                String text = texts.text(nameOf(n)) + texts.text(nameOf(n + 1)) + texts.text(nameOf(n + 7));
                String label = text.replace("{name}", "Souvenir");
                String answer = "ok " + label.length() + " " + Long.toHexString(proof(label)) + " " + label.substring(0, label.indexOf('\n')) + "\n";
                line.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException gone) {
            System.err.println("a till went away: " + gone.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        Texts texts = HOW.equals("anew") ? new Archive() : new Shelf();
        for (int n = 0; n < @{asked} && HOW.equals("ahead"); n++)
            texts.text(nameOf(n));
        ExecutorService tills = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 50, InetAddress.getByName("127.0.0.1"))) {
            while (true) {
                Socket line = door.accept();
                tills.execute(() -> serve(line, texts));
            }
        }
    }
}
