import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The player of a carillon: takes a bar of the tune after the other, fetches the sound of each stroke from the recordings, and mixes them. */
public class @{Class} {
    static final int BLOCK = @{block}, PARTIALS = @{partials}, HEARD = @{heard}, TAKES = @{takes}, LONG = BLOCK / 2;

    record Bell(int key, float weight) {}

    record Stroke(int bell, int take, float loud) {}

    /** The partials, as they begin to sound. */
    static int partialAt(int order) {
        return order * 11 % PARTIALS;
    }

    static final class Recordings implements AutoCloseable {
        private final RandomAccessFile file;
        private final byte[] sound = new byte[PARTIALS * BLOCK];

        Recordings(String path) throws IOException {
            file = new RandomAccessFile(path, "r");
        }

        byte[] @{fnCamel}(Stroke stroke) throws IOException {
            long first = ((long) stroke.bell() * TAKES + stroke.take()) * PARTIALS * BLOCK;
            if ("@{way}".equals("run")) {
                exactly(first, 0, sound.length);
                return sound;
            }
            for (int order = 0; order < HEARD; order++) {
                int at = partialAt(order) * BLOCK;
                if ("@{way}".equals("at")) {
                    exactly(first + at, at, BLOCK);
                } else {
                    file.seek(first + at);
                    file.readFully(sound, at, BLOCK);
                }
            }
            return sound;
        }

        private void exactly(long from, int at, int size) throws IOException {
            if (file.getChannel().read(ByteBuffer.wrap(sound, at, size), from) != size)
                throw new IOException("the recordings are cut");
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    private final Recordings recordings;
    private final List<Bell> bells = new ArrayList<>();
    private int seed = 7;
    private long took;
    private float loudest;

    @{Class}(Recordings recordings, Path list) throws IOException {
        this.recordings = recordings;
        for (String line : Files.readAllLines(list)) {
            String[] words = line.split(" ");
            if (bells.size() < 54)
                bells.add(new Bell(Integer.parseInt(words[1]), Float.parseFloat(words[2])));
        }
    }

    private int chance(int below) {
        seed = seed * 1664525 + 1013904223;
        return (seed >>> 8) % below;
    }

    private void mix(Stroke stroke, byte[] sound, float[] bar) {
        for (int order = 0; order < HEARD; order++) {
            int block = partialAt(order) * BLOCK;
            float loud = stroke.loud() * bells.get(stroke.bell()).weight() / (order + 1) / 32768;
            float low = 0;
            for (int i = 0; i < LONG; i++) {
                low += ((short) (sound[block + i * 2] & 0xff | sound[block + i * 2 + 1] << 8) - low) * 0.35f;
                bar[i] += low * loud;
            }
        }
    }

    void play() throws IOException {
        float[] bar = new float[LONG];
        for (int i = 0; i < @{bar}; i++) {
            Stroke stroke = new Stroke(chance(bells.size()), chance(TAKES), (60 + chance(60)) / 127f);
            long start = System.nanoTime();
            byte[] sound = recordings.@{fnCamel}(stroke);
            took += System.nanoTime() - start;
            mix(stroke, sound, bar);
        }
        for (float sample : bar)
            loudest = Math.max(loudest, Math.abs(sample));
    }

    public static void main(String[] arguments) throws Exception {
        long units = 0;
        double busy = 0;
        try (Recordings recordings = new Recordings("@{work}/@{sounds}")) {
            @{Class} player = new @{Class}(recordings, Path.of("@{work}/bells.txt"));
            long began = System.nanoTime();
            while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                player.play();
                units++;
                busy += (System.nanoTime() - start) / 1e9;
                double rest = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
                if (rest > 0)
                    Thread.sleep((long) (rest * 1000));
            }
            System.err.println(units + " bars, loudest " + player.loudest);
            Files.writeString(Path.of("@{report}"), "{\"units\": " + units + ", \"seconds\": " + busy + ", \"culprit\": " + player.took / 1e9 + "}");
        }
    }
}
