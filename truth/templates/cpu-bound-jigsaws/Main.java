import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** Sorts the pieces of jigsaw puzzles: a camera sees a tray of them, and the sorter says which edges fit together. */
public class @{Class} {
    static final int EDGES = @{tray} * 4, SAMPLES = @{samples}, WIDTHS = 4000;
    static final boolean BY_WIDTH = "@{way}".equals("widths");

    private final int[] outlines = new int[EDGES * SAMPLES];
    private final int[] widths = new int[EDGES], next = new int[EDGES];
    private final int[] first = new int[WIDTHS];
    private long joined;

    /** What the camera sees of a tray: each edge's outline, and on the other side of the tray the one that fits. */
    void look(int tray) {
        Arrays.fill(first, -1);
        for (int edge = 0; edge < EDGES; edge++) {
            int pair = edge / 2, side = edge % 2 == 0 ? 1 : -1;
            for (int i = 0; i < SAMPLES; i++)
                outlines[edge * SAMPLES + i] = side * (int) (100 * Math.sin(pair * 1.7 + i * (0.2 + pair % 13 * 0.05) + tray));
            widths[edge] = (pair * 37 + tray) % WIDTHS;
            next[edge] = first[widths[edge]];
            first[widths[edge]] = edge;
        }
    }

    /** The edge that fits best: a hollow where this one has a knob. */
    int @{fnCamel}(int edge) {
        int best = -1, least = Integer.MAX_VALUE;
        for (int other = BY_WIDTH ? first[widths[edge]] : 0; other >= 0 && other < EDGES; other = BY_WIDTH ? next[other] : other + 1) {
            if (other == edge)
                continue;
            int gap = Math.abs(widths[edge] - widths[other]) * SAMPLES;
            for (int i = 0; i < SAMPLES; i++)
                gap += Math.abs(outlines[edge * SAMPLES + i] + outlines[other * SAMPLES + i]);
            if (gap < least) {
                least = gap;
                best = other;
            }
        }
        return best;
    }

    public static void main(String[] arguments) throws Exception {
        @{Class} sorter = new @{Class}();
        long units = 0, spent = 0, busy = 0, began = System.nanoTime();
        StringBuilder last = new StringBuilder();
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            sorter.look((int) (units % 50));
            long seen = System.nanoTime();
            last.setLength(0);
            for (int edge = 0; edge < EDGES; edge++) {
                int fits = sorter.@{fnCamel}(edge);
                if (fits == (edge ^ 1))
                    sorter.joined++;
                if (edge % 40 == 0)
                    last.append(edge).append('-').append(fits).append(' ');
            }
            long end = System.nanoTime();
            spent += end - seen;
            busy += end - start;
            units++;
            double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (rest > 0)
                Thread.sleep((long) (rest * 1000));
        }
        System.err.println(sorter.joined + " joined; " + last);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, spent / 1e9));
    }
}
