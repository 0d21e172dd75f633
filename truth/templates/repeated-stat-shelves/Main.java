// Catalogue of a library: a page for each shelf, with icons that say what one may do with a book.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class @{Class} {
    static final String[] MARKS = {"loan", "shelf", "braille", "audio", "large", "map", "score", "film", "local", "order", "star", "note"};
    static final String[] AUTHORS = {"A. Lind", "B. Okoro", "C. Marsh", "D. Weiss", "E. Sato", "F. Ruiz"};

    /** Addresses of static files, with the time of the file, so that browsers may keep them. */
    static class Assets {
        private final Path root;
        private volatile long version;

        Assets(Path root) {
            this.root = root;
            refresh();
        }

        long @{fnCamel}(String name) {
            try {
                return Files.getLastModifiedTime(root.resolve(name)).toMillis() / 1000;
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        void refresh() {
            version = @{fnCamel}("@{icons}");
        }

        StringBuilder address(StringBuilder page, String name) {
            long stamp = "@{stamp}".equals("icon") ? @{fnCamel}(name) : version;
            return page.append(name).append('?').append(Long.toHexString(stamp));
        }
    }

    record Catalogue(Assets assets) {
        String shelf(int number) {
            if ("@{stamp}".equals("page")) assets.refresh();
            StringBuilder page = new StringBuilder("<!doctype html><title>Shelf ").append(number).append("</title><ul>");
            for (int book = 0; book < @{books}; book++) {
                page.append("<li>").append(AUTHORS[(number + book * 5) % 6]).append(": volume ").append((number * 31 + book) % 900);
                for (int mark = number + book; mark < number + book + @{marks}; mark++) {
                    assets.address(page.append("<use href="), "@{icons}").append('#').append(MARKS[mark % 12]).append('>');
                }
            }
            return page.append("</ul>\n").toString();
        }

        /** The answers to a reader, request after request. */
        void talk(Socket reader) {
            try (reader; BufferedReader lines = new BufferedReader(new InputStreamReader(reader.getInputStream(), StandardCharsets.ISO_8859_1))) {
                reader.setTcpNoDelay(true);
                OutputStream out = reader.getOutputStream();
                for (String first = lines.readLine(); first != null; first = lines.readLine()) {
                    for (String head = lines.readLine(); head != null && !head.isEmpty(); head = lines.readLine()) { }
                    String path = first.split(" ")[1];
                    boolean known = path.startsWith("/shelf/");
                    String page = known ? shelf(Integer.parseInt(path.substring(7))) : "no such shelf\n";
                    String head = "HTTP/1.1 " + (known ? "200 OK" : "404 Not Found") + "\r\nContent-Type: text/html\r\nContent-Length: " + page.length() + "\r\n\r\n";
                    out.write((head + page).getBytes(StandardCharsets.ISO_8859_1));
                }
            } catch (IOException error) {
                System.err.println(error.getMessage());
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        Assets assets = new Assets(Path.of("@{work}", "@{public}"));
        if ("@{stamp}".equals("timer")) {
            ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
            timer.scheduleAtFixedRate(assets::refresh, 1, 1, TimeUnit.SECONDS);
        }
        Catalogue catalogue = new Catalogue(assets);
        // So that the first readers of the day need not wait for the compiler.
        long size = 0;
        for (int number = 0; number < 80; number++) size += catalogue.shelf(number).length();
        System.out.println("80 shelves, " + size + " characters");
        try (ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket reader = door.accept();
                new Thread(() -> catalogue.talk(reader)).start();
            }
        }
    }
}
