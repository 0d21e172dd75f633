import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Searches segments: each question opens the segment that it is about, looks at some of its postings, and closes it. */
public class @{Class} {
    static final MappedByteBuffer[] open = new MappedByteBuffer[@{count}];
    static Object unsafe;
    static Method cleaner;
    static long touching;

    static MappedByteBuffer map(int number) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of("@{work}/@{folder}/@{shard}." + number))) {
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
        }
    }

    static void unmap(ByteBuffer segment) throws Exception {
        if (cleaner == null) {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe = field.get(null);
            cleaner = type.getMethod("invokeCleaner", ByteBuffer.class);
        }
        cleaner.invoke(unsafe, segment);
    }

    static long @{fnCamel}(MappedByteBuffer segment, Random chance) {
        long score = 0;
        byte[] postings = new byte[512];
        for (int i = 0; i < @{touches}; i++) {
            int place = chance.nextInt(segment.capacity() / 4096) * 4096;
            long start = System.nanoTime();
            segment.get(place, postings);
            touching += System.nanoTime() - start;
            for (int round = 0; round < @{rounds}; round++)
                for (byte posting : postings) score = score * 31 + posting;
        }
        return score;
    }

    public static void main(String[] words) throws Exception {
        for (int number = 0; number < open.length && !"@{mode}".equals("each"); number++) {
            open[number] = map(number);
            if ("@{mode}".equals("preload")) open[number].load();
        }
        Random chance = new Random(9);
        long end = System.nanoTime() + (long) (@{seconds} * 1e9), due = System.nanoTime(), busy = 0, units = 0, score = 0;
        while (System.nanoTime() < end) {
            long start = System.nanoTime();
            int number = chance.nextInt(open.length);
            MappedByteBuffer segment = open[number] != null ? open[number] : map(number);
            score += @{fnCamel}(segment, chance);
            if (open[number] == null) unmap(segment);
            busy += System.nanoTime() - start;
            units++;
            due = Math.max(due + (long) (1e9 / @{per_s}), System.nanoTime());
            long rest = due - System.nanoTime();
            if (rest > 0) Thread.sleep(rest / 1000000, (int) (rest % 1000000));
        }
        Files.writeString(Path.of("@{report}"),
            "{\"units\": " + units + ", \"seconds\": " + busy / 1e9 + ", \"culprit\": " + touching / 1e9 + ", \"score\": " + score % 10 + "}");
    }
}
