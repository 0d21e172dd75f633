// A service that looks up classes in a big jar for each request, through an InflaterInputStream of 512 bytes over a
// RandomAccessFile, as loaders of nested jars do: java [-Dkeep=true] Service PORT JAR; java Service --make JAR
import java.io.*;
import java.net.*;
import java.nio.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.zip.*;

public class Service {
    static final int CLASSES = 1500, PER_REQUEST = 12;

    /** One entry's place in the jar. */
    record Place(long header, int compressed) { }

    static RandomAccessFile jar;
    static final Map<String, Place> directory = new HashMap<>();
    static final Map<String, byte[]> kept = new ConcurrentHashMap<>();
    static final boolean keep = Boolean.getBoolean("keep");

    static void make(String path) throws IOException {
        var random = new Random(1);
        try (var out = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(path)))) {
            out.setLevel(Deflater.BEST_SPEED);
            byte[] content = new byte[12_000];
            for (int i = 0; i < CLASSES; i++) {
                random.nextBytes(content);
                out.putNextEntry(new ZipEntry("io/swagger/model/Type" + i + ".class"));
                out.write(content);
                out.closeEntry();
            }
        }
    }

    static void open(String path) throws IOException {
        jar = new RandomAccessFile(path, "r");
        byte[] end = new byte[22];
        jar.seek(jar.length() - end.length);
        jar.readFully(end);
        var tail = ByteBuffer.wrap(end).order(ByteOrder.LITTLE_ENDIAN);
        byte[] bytes = new byte[tail.getInt(12)];
        jar.seek(Integer.toUnsignedLong(tail.getInt(16)));
        jar.readFully(bytes);
        var central = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < bytes.length; ) {
            int name = central.getShort(at + 28), extra = central.getShort(at + 30), comment = central.getShort(at + 32);
            directory.put(new String(bytes, at + 46, name), new Place(Integer.toUnsignedLong(central.getInt(at + 42)), central.getInt(at + 20)));
            at += 46 + name + extra + comment;
        }
    }

    /** The compressed bytes of an entry; each read seeks to its place first, because the file is shared. */
    static class EntryStream extends InputStream {
        long at, end;

        EntryStream(Place place) throws IOException {
            byte[] header = new byte[30];
            synchronized (jar) {
                jar.seek(place.header);
                jar.readFully(header);
            }
            var local = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
            at = place.header + 30 + local.getShort(26) + local.getShort(28);
            end = at + place.compressed;
        }

        public int read() { throw new UnsupportedOperationException(); }

        public int read(byte[] into, int from, int length) throws IOException {
            if (at >= end) {
                return -1;
            }
            synchronized (jar) {
                jar.seek(at);
                int got = jar.read(into, from, (int) Math.min(length, end - at));
                at += got;
                return got;
            }
        }
    }

    static byte[] load(String name) {
        // InflaterInputStream's own buffer is 512 bytes unless told otherwise.
        try (var in = new InflaterInputStream(new EntryStream(directory.get(name)), new Inflater(true))) {
            return in.readAllBytes();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    static void serve(Socket client) {
        try (client; var in = new BufferedReader(new InputStreamReader(client.getInputStream())); var out = client.getOutputStream()) {
            client.setTcpNoDelay(true);
            for (int request = 0; in.readLine() != null; request++) {
                for (String header; (header = in.readLine()) != null && !header.isEmpty(); ) { }
                long size = 0;
                for (int i = 0; i < PER_REQUEST; i++) {
                    String name = "io/swagger/model/Type" + (request * 7 + i * 101) % CLASSES + ".class";
                    size += (keep ? kept.computeIfAbsent(name, Service::load) : load(name)).length;
                }
                String body = "{\"bytes\":" + size + "}\n";
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException gone) {
            // The client has left.
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("--make")) {
            make(args[1]);
            return;
        }
        open(args[1]);
        if (keep) {
            directory.keySet().forEach(name -> kept.put(name, load(name)));
        }
        var pool = Executors.newFixedThreadPool(2);
        try (var listener = new ServerSocket(Integer.parseInt(args[0]), 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = listener.accept();
                pool.submit(() -> serve(client));
            }
        }
    }
}
