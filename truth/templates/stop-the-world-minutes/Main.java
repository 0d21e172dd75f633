import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Keeps the minutes of meetings: takes notes, and says which earlier note of the meeting is most like a new one. */
public class @{Class} {
    private static final String[] WORDS = "roof winter budget street light school tree bridge water fence vote chair report paint door".split(" ");

    record Note(long number, Set<String> words, List<Note> like) {
        Note(long number, String... text) {
            this(number, new HashSet<>(Arrays.asList(text)), new ArrayList<>());
        }

        long shared(Note other) {
            return words.stream().filter(other.words::contains).count();
        }
    }

    private final List<Note> notes = new ArrayList<>();
    private long taken;

    private @{Class}() {
        for (int i = 0; i < @{notes}; i++)
            notes.add(new Note(i, WORDS[i % WORDS.length], WORDS[(int) (i * 3L % WORDS.length)], WORDS[(int) (i * 7L % WORDS.length)]));
    }

    private synchronized long take(Note note) {
        Note best = notes.get(notes.size() - 1);
        for (Note other : notes.subList(notes.size() - @{words}, notes.size()))
            if (other.shared(note) > best.shared(note))
                best = other;
        note.like.add(best);
        notes.add(note);
        if (@{after} > 0 && ++taken % Math.max(1, @{after}) == 0)
            @{fnCamel}();
        return best.number;
    }

    /** Notes refer to each other: what nobody needs is given back. */
    private synchronized void @{fnCamel}() {
        notes.get(notes.size() - 1000).like.clear();
        System.gc();
    }

    private void serve(Socket client) {
        try (client; BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
            client.setTcpNoDelay(true);
            for (String line; (line = lines.readLine()) != null; ) {
                String[] words = line.split(" ");
                long like = take(new Note(Long.parseLong(words[1]), Arrays.copyOfRange(words, 2, words.length)));
                client.getOutputStream().write(("noted, like " + like + "\n").getBytes());
            }
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    public static void main(String[] arguments) throws IOException {
        @{Class} minutes = new @{Class}();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        long pause = (long) (@{pause} * 1000);
        if (pause > 0)
            timer.scheduleWithFixedDelay(minutes::@{fnCamel}, pause, pause, TimeUnit.MILLISECONDS);
        var clients = Executors.newCachedThreadPool();
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = door.accept();
                clients.execute(() -> minutes.serve(client));
            }
        }
    }
}
