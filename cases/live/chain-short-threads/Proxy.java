import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.Socket;

/** Passes each connection on to the store, by a thread that begins and ends with it. */
public class Proxy {
    public static void main(String[] arguments) throws IOException {
        int store = Integer.parseInt(arguments[1]);
        try (ServerSocket server = new ServerSocket(Integer.parseInt(arguments[0]))) {
            while (true) {
                Socket client = server.accept();
                new Thread(() -> pass(client, store)).start();
            }
        }
    }

    static void pass(Socket client, int port) {
        try (client; Socket store = new Socket("127.0.0.1", port)) {
            String order = readLine(client);
            store.getOutputStream().write((order + "\n").getBytes());
            String answer = readLine(store);
            client.getOutputStream().write((answer + "\n").getBytes());
        } catch (IOException gone) {
            System.err.println(gone);
        }
    }

    static String readLine(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
    }
}
