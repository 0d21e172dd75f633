// Gateway of the weather stations in the vineyards: each has a thread, which reads its sensors in rounds and publishes the values by MQTT.
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

public class @{Class} {
    /** A connection on which the broker has let us in. */
    static class Session implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        private int next;

        Session(String client) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), @{broker});
            socket.setTcpNoDelay(true);
            in = new DataInputStream(socket.getInputStream());
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream body = new DataOutputStream(bytes);
            body.writeUTF("MQTT");
            body.write(new byte[] {4, (byte) 0xC2, 0, 60});
            body.writeUTF(client);
            body.writeUTF("cooperative");
            body.writeUTF("riesling");
            send(0x10, bytes.toByteArray());
            if ((in.readInt() & 255) != 0) throw new IOException("the broker refuses");
        }

        private void send(int kind, byte[] body) throws IOException {
            ByteArrayOutputStream packet = new ByteArrayOutputStream();
            packet.write(kind);
            int length = body.length;
            do {
                packet.write(length & 127 | (length > 127 ? 128 : 0));
                length >>= 7;
            } while (length > 0);
            packet.write(body);
            socket.getOutputStream().write(packet.toByteArray());
        }

        void publish(String topic, String payload) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream body = new DataOutputStream(bytes);
            body.writeUTF(topic);
            body.writeShort(++next);
            body.write(payload.getBytes(StandardCharsets.UTF_8));
            send(0x32, bytes.toByteArray());
            if ((in.readInt() & 0xFFFF) != (next & 0xFFFF)) throw new IOException("another packet is acknowledged");
        }

        @Override
        public void close() throws IOException {
            send(0xE0, new byte[0]);
            socket.close();
        }
    }

    static class Station extends Thread {
        private final int number;
        private final long begun;
        private Session kept;
        int units;
        long busy, joining;

        Station(int number, long begun) {
            super("station-" + number);
            this.number = number;
            this.begun = begun;
        }

        void @{fnCamel}(String topic, String payload) throws IOException {
            Session session = kept;
            if (session == null) {
                long start = System.nanoTime();
                session = new Session(getName());
                joining += System.nanoTime() - start;
            }
            session.publish(topic, payload);
            if ("@{session}".equals("kept")) {
                kept = session;
                return;
            }
            long start = System.nanoTime();
            session.close();
            joining += System.nanoTime() - start;
        }

        private double measure(int round, int sensor) {
            return 12 + 9 * Math.sin(round / 40.0 + number) + sensor * sensor % 7;
        }

        private void round(int round) throws IOException {
            double low = Double.MAX_VALUE, high = -Double.MAX_VALUE;
            for (int sensor = 0; sensor < @{sensors}; sensor++) {
                double value = measure(round, sensor);
                low = Math.min(low, value);
                high = Math.max(high, value);
                if ("@{content}".equals("values")) {
                    @{fnCamel}("@{topic}/" + number + "/sensor/" + sensor, "{\"round\":" + round + ",\"value\":" + Math.round(value * 100) / 100.0 + "}");
                }
            }
            if ("@{content}".equals("summary")) @{fnCamel}("@{topic}/" + number + "/summary", "{\"round\":" + round + ",\"low\":" + low + ",\"high\":" + high + "}");
        }

        @Override
        public void run() {
            try {
                while ((System.nanoTime() - begun) / 1e9 < @{seconds}) {
                    long start = System.nanoTime();
                    round(units);
                    units++;
                    busy += System.nanoTime() - start;
                    double early = units / (double) @{rate} - (System.nanoTime() - begun) / 1e9;
                    if (early > 0) Thread.sleep((long) (early * 1000));
                }
            } catch (IOException | InterruptedException error) {
                throw new IllegalStateException(getName(), error);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long begun = System.nanoTime();
        List<Station> stations = new ArrayList<>();
        for (int number = 0; number < @{stations}; number++) stations.add(new Station(number, begun));
        for (Station station : stations) station.start();
        for (Station station : stations) station.join();
        int units = stations.stream().mapToInt(one -> one.units).sum();
        double busy = stations.stream().mapToLong(one -> one.busy).sum() / 1e9, joining = stations.stream().mapToLong(one -> one.joining).sum() / 1e9;
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, joining));
    }
}
