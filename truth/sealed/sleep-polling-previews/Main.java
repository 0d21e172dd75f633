import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;

/** The editor's server: an author sees what a page will look like. */
public class @{Class} {
    private static String preview(Socket desk, DataInputStream answers, int page) throws IOException {
        desk.getOutputStream().write(ByteBuffer.allocate(6).putShort((short) (page % 50)).putInt(page).array());
        int size = answers.readInt();
        return String.format("preview %d %08x%n", size, answers.readInt());
    }

    private static void serve(Socket author) {
        try (author; Socket desk = new Socket("127.0.0.1", @{desk})) {
            author.setTcpNoDelay(true);
            desk.setTcpNoDelay(true);
            DataInputStream answers = new DataInputStream(desk.getInputStream());
            BufferedReader lines = new BufferedReader(new InputStreamReader(author.getInputStream()));
            String line;
            while ((line = lines.readLine()) != null)
                author.getOutputStream().write(preview(desk, answers, Integer.parseInt(line.substring(line.indexOf(' ') + 1).trim())).getBytes());
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket listener = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket author = listener.accept();
            new Thread(() -> serve(author), "author").start();
        }
    }
}
