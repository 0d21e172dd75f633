// As site.c, by the standard library of Java: Site PORT FOLDER. The names of the threads are their kinds.
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

public class Site {
    static final Object latch = new Object();
    static final ReentrantLock gate = new ReentrantLock();
    static final long[] numbers = new long[1 << 20];
    static long sink;

    static long heronTally() {
        long sum = 1;
        for (int at = 0; at < numbers.length; at++) { // SITE compute heronTally
            sum = sum * 31 + (numbers[at] >> 7) + at; // SITE compute heronTally
            numbers[at] = sum; // SITE compute heronTally
        }
        return sum;
    }

    static long otterLatch() {
        synchronized (latch) { // SITE lock otterLatch
            return sink++;
        }
    }

    // A lock of the library's: java.util.concurrent.
    static long stoatClaim() {
        gate.lock(); // SITE gate stoatClaim
        gate.unlock();
        return sink++;
    }

    static long finchFlush(FileChannel file, ByteBuffer block) throws Exception {
        block.clear();
        long wrote = file.write(block, 0); // SITE file finchFlush
        file.force(false); // SITE file finchFlush
        return wrote;
    }

    static long badgerAsk(InputStream from, OutputStream to) throws Exception {
        to.write('?');
        int got = from.read(); // SITE peer badgerAsk
        if (got < 0) System.exit(0);
        return got;
    }

    static long newtDoze() throws Exception {
        Thread.sleep(50); // SITE timer newtDoze
        return 50;
    }

    static long nearCaller(Callable<Long> of) throws Exception {
        return of.call() + 1;
    }

    static long farCaller(Callable<Long> of) throws Exception {
        return nearCaller(of) + 1;
    }

    static void begin(String kind, Callable<Long> of) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    sink += farCaller(of);
                    if (kind.equals("lock") || kind.equals("gate")) Thread.sleep(5); // SITE rest begin
                }
            } catch (Exception wrong) {
                System.exit(1);
            }
        }, kind);
        thread.start();
    }

    public static void main(String[] words) throws Exception {
        Socket peer = new Socket("127.0.0.1", Integer.parseInt(words[0]));
        InputStream from = peer.getInputStream();
        OutputStream to = peer.getOutputStream();
        FileChannel file = FileChannel.open(Path.of(words[1], "file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        ByteBuffer block = ByteBuffer.allocateDirect(1 << 22);
        begin("compute", Site::heronTally);
        begin("lock", Site::otterLatch);
        begin("gate", Site::stoatClaim);
        begin("file", () -> finchFlush(file, block));
        begin("peer", () -> badgerAsk(from, to));
        begin("timer", Site::newtDoze);
        System.out.println("ready");
        while (true) {
            synchronized (latch) {
                gate.lock();
                Thread.sleep(50);
                gate.unlock();
            }
            Thread.sleep(2);
        }
    }
}
