import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Keeps the tables of a chess server: computes what the clocks and the moves make of each game, round by round, and saves the games. */
public class @{Class} {
    private static final Path SAVES = Path.of("@{work}/@{saves}");

    /** One game between two players. */
    private static final class Game {
        final int number;
        final Random chance;
        final int[] board = new int[64];
        final List<String> moves = new ArrayList<>();
        int white = 600_000;
        int black = 600_000;

        Game(int number) {
            this.number = number;
            this.chance = new Random(number);
            for (int i = 0; i < 64; i++) {
                board[i] = i < 16 ? 1 + i % 6 : i >= 48 ? -1 - i % 6 : 0;
            }
        }

        /** The move that seems best after a look at some. */
        void move() {
            int best = Integer.MIN_VALUE;
            int from = 0;
            int to = 0;
            for (int look = 0; look < @{effort} * 50; look++) {
                int one = chance.nextInt(64);
                int other = chance.nextInt(64);
                int value = 0;
                for (int at = one & 7; at < 64; at += 8) {
                    value += board[at] * (at - other) + (board[other] == 0 ? 2 : 5);
                }
                if (board[one] != 0 && value > best) {
                    best = value;
                    from = one;
                    to = other;
                }
            }
            board[to] = board[from];
            board[from] = 0;
            moves.add(square(from) + square(to));
            if (moves.size() > @{things}) {
                moves.remove(0);
            }
            if (moves.size() % 2 == 0) {
                white -= 900;
            } else {
                black -= 900;
            }
        }

        private static String square(int at) {
            return "" + (char) ('a' + at % 8) + (char) ('1' + at / 8);
        }

        String state() {
            StringBuilder text = new StringBuilder();
            text.append("game ").append(number).append(" clocks ").append(white).append(' ').append(black).append("\nboard");
            for (int piece : board) {
                text.append(' ').append(piece);
            }
            return text.append("\nmoves ").append(String.join(" ", moves)).append('\n').toString();
        }
    }

    private final List<Game> games = new ArrayList<>();
    private long spent;
    private long last = System.nanoTime();

    /** A file under its name is always a whole one. */
    private void @{fnCamel}(String name, String state) throws IOException {
        long start = System.nanoTime();
        Path fresh = SAVES.resolve(name + ".tmp");
        try (FileChannel file = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer bytes = ByteBuffer.wrap(state.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
            file.force(true);
        }
        Files.move(fresh, SAVES.resolve(name), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        spent += System.nanoTime() - start;
    }

    private void round() throws IOException {
        StringBuilder all = new StringBuilder();
        for (Game game : games) {
            game.move();
            if ("@{save}".equals("each")) {
                @{fnCamel}("table-" + game.number + "@{ending}", game.state());
            } else {
                all.append(game.state());
            }
        }
        if ("@{save}".equals("all")) {
            @{fnCamel}("tables@{ending}", all.toString());
        }
        if ("@{save}".equals("left") && System.nanoTime() - last > @{gap} * 1e9) {
            Game over = games.get((int) (System.nanoTime() / 1000 % games.size()));
            @{fnCamel}("table-" + over.number + "@{ending}", over.state());
            last = System.nanoTime();
        }
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} server = new @{Class}();
        for (int i = 0; i < @{players}; i++) {
            Game game = new Game(i);
            // The opening is from the book.
            for (int move = 0; move < 12; move++) {
                game.move();
            }
            server.games.add(game);
        }
        PrintWriter log = new PrintWriter(Files.newBufferedWriter(Path.of("@{work}/tables.log")), true);
        int units = 0;
        long busy = 0;
        long end = System.nanoTime() + (long) (@{seconds} * 1e9);
        double due = System.nanoTime();
        while (System.nanoTime() < end) {
            due = Math.max(due + 1e9 / @{rate}, System.nanoTime());
            Thread.sleep((long) Math.max(0, (due - System.nanoTime()) / 1e6));
            long start = System.nanoTime();
            server.round();
            busy += System.nanoTime() - start;
            units++;
            log.printf("round %d of %d tables%n", units, server.games.size());
        }
        Files.writeString(Path.of("@{report}"),
                String.format("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, server.spent / 1e9));
    }
}
