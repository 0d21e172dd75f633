// A small HTTP service that logs each request and its answer, as log4j or logback do, to the console and to a file:
// java [-Dappender.console=off] Service PORT LOGFILE
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.*;
import java.util.concurrent.*;

public class Service {
    static final List<OutputStream> appenders = new ArrayList<>();

    static void log(String text) throws IOException {
        byte[] line = (LocalDateTime.now() + " INFO  [" + Thread.currentThread().getName() + "] com.example.feed.Controller - " + text + "\n")
            .getBytes(StandardCharsets.UTF_8);
        for (OutputStream appender : appenders) {
            appender.write(line);
        }
    }

    static void serve(Socket client) {
        try (client; var in = new BufferedReader(new InputStreamReader(client.getInputStream())); var out = client.getOutputStream()) {
            client.setTcpNoDelay(true);
            for (String request; (request = in.readLine()) != null; ) {
                for (String header; (header = in.readLine()) != null && !header.isEmpty(); ) { }
                log("request " + request);
                byte[] body = "{\"items\":8}\n".getBytes();
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n" + new String(body)).getBytes());
                log("answered " + request);
            }
        } catch (IOException gone) {
            // The client has left.
        }
    }

    public static void main(String[] args) throws Exception {
        if (!"off".equals(System.getProperty("appender.console"))) {
            appenders.add(new FileOutputStream(FileDescriptor.out));
        }
        appenders.add(new FileOutputStream(args[1], true));
        var pool = Executors.newFixedThreadPool(4);
        try (var listener = new ServerSocket(Integer.parseInt(args[0]), 50, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = listener.accept();
                pool.submit(() -> serve(client));
            }
        }
    }
}
