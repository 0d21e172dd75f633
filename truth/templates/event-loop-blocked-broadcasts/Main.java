// Play-out of a radio station: takes the studio's programmes, keeps them in the archive, and tells receivers what is on air.
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

public class @{Class} {
    interface Guest {
        boolean ready() throws IOException;
    }

    static final class Archive {
        final AtomicInteger kept = new AtomicInteger();
        final ExecutorService packers = Executors.newSingleThreadExecutor();

        void take(int number, byte[] sound) {
            if ("@{place}".equals("here")) {
                @{fnCamel}(number, sound);
            } else {
                packers.execute(() -> @{fnCamel}(number, sound));
            }
        }

        void @{fnCamel}(int number, byte[] sound) {
            Deflater packer = new Deflater(7);
            packer.setInput(sound);
            packer.finish();
            byte[] packed = new byte[sound.length + 1024];
            int length = 0;
            while (!packer.finished()) {
                length += packer.deflate(packed, length, packed.length - length);
            }
            packer.end();
            try {
                Files.write(Path.of("@{work}/@{archive}/" + number % 4 + ".z"), Arrays.copyOf(packed, length));
            } catch (IOException error) {
                System.err.println(error);
            }
            kept.incrementAndGet();
        }
    }

    static final class Studio implements Guest {
        final SocketChannel line;
        final @{Class} playout;
        final ByteBuffer head = ByteBuffer.allocate(200);
        int number;
        String title;
        ByteBuffer sound;

        Studio(SocketChannel line, @{Class} playout) {
            this.line = line;
            this.playout = playout;
        }

        public boolean ready() throws IOException {
            if (sound != null) {
                int got = line.read(sound);
                if (!sound.hasRemaining()) {
                    playout.title = title;
                    playout.archive.take(number, sound.array());
                    sound = null;
                }
                return got >= 0;
            }
            head.limit(head.position() + 1);
            while (line.read(head) == 1) {
                if (head.get(head.position() - 1) == '\n') {
                    String[] words = new String(head.array(), 0, head.position(), StandardCharsets.ISO_8859_1).trim().split(" ", 4);
                    number = Integer.parseInt(words[1]);
                    sound = ByteBuffer.allocate(Integer.parseInt(words[2]));
                    title = words[3];
                    head.clear();
                    return true;
                }
                head.limit(head.position() + 1);
            }
            return false;
        }
    }

    static final class Receiver implements Guest {
        final SocketChannel line;
        final @{Class} playout;
        final ByteBuffer text = ByteBuffer.allocate(4096);

        Receiver(SocketChannel line, @{Class} playout) {
            this.line = line;
            this.playout = playout;
        }

        public boolean ready() throws IOException {
            text.clear();
            if (line.read(text) < 0) {
                return false;
            }
            for (String ask : new String(text.array(), 0, text.position(), StandardCharsets.ISO_8859_1).split("\n")) {
                line.write(ByteBuffer.wrap(playout.onAir(ask.split(" ")[1]).getBytes(StandardCharsets.ISO_8859_1)));
            }
            return true;
        }
    }

    final Archive archive = new Archive();
    String title = "Test Tone";

    String onAir(String receiver) {
        CRC32 ticket = new CRC32();
        byte[] text = (title + receiver).getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i < 2000; i++) {
            ticket.update(text);
        }
        return receiver + " " + Long.toHexString(ticket.getValue()) + " " + archive.kept + " " + title + "\n";
    }

    void accept(Selector selector, ServerSocketChannel door) throws IOException {
        SocketChannel line = door.accept();
        boolean studio = door.getLocalAddress() instanceof UnixDomainSocketAddress;
        if (!studio) {
            line.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        line.configureBlocking(false);
        line.register(selector, SelectionKey.OP_READ, studio ? new Studio(line, this) : new Receiver(line, this));
    }

    void run() throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel studios = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of("@{work}/@{sock}"));
        ServerSocketChannel receivers = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", @{port}), 64);
        for (ServerSocketChannel door : new ServerSocketChannel[] {studios, receivers}) {
            door.configureBlocking(false);
            door.register(selector, SelectionKey.OP_ACCEPT);
        }
        while (true) {
            selector.select(this::serve);
        }
    }

    void serve(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                accept(key.selector(), (ServerSocketChannel) key.channel());
            } else if (!((Guest) key.attachment()).ready()) {
                key.channel().close();
            }
        } catch (IOException error) {
            key.cancel();
        }
    }

    public static void main(String[] arguments) throws IOException {
        new @{Class}().run();
    }
}
