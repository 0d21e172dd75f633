import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Plans dives: what the bureaus say of a site and a day, and the stops on the way up. */
public class @{Class} {
    record Bureau(String name, int port) {}

    static final List<Bureau> BUREAUS = List.of(new Bureau("tide", @{tide}), new Bureau("weather", @{weather}),
            new Bureau("swell", @{swell}), new Bureau("boat", @{boat}), new Bureau("chamber", @{chamber})).subList(0, @{asked});
    static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    static final Pattern VALUE = Pattern.compile("\"value\": ([0-9.]+)"), REF = Pattern.compile("\"ref\": \"(\\w+)\"");

    static HttpRequest request(Bureau bureau, String query) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + bureau.port() + "/" + bureau.name() + "?" + query)).build();
    }

    static String found(Pattern what, String answer) {
        Matcher matcher = what.matcher(answer);
        return matcher.find() ? matcher.group(1) : "0";
    }

    static Map<String, String> @{fnCamel}(int site, int day) throws Exception {
        Map<String, String> known = new LinkedHashMap<>();
        String query = "site=" + site + "&day=" + day;
        if ("@{way}".equals("together")) {
            List<CompletableFuture<HttpResponse<String>>> asked = new ArrayList<>();
            for (Bureau bureau : BUREAUS) {
                asked.add(CLIENT.sendAsync(request(bureau, query), HttpResponse.BodyHandlers.ofString()));
            }
            for (int i = 0; i < asked.size(); i++) {
                known.put(BUREAUS.get(i).name(), asked.get(i).get().body());
            }
            return known;
        }
        for (Bureau bureau : BUREAUS) {
            String answer = CLIENT.send(request(bureau, query), HttpResponse.BodyHandlers.ofString()).body();
            known.put(bureau.name(), answer);
            if ("@{way}".equals("chain")) {
                query = "after=" + found(REF, answer);
            }
        }
        return known;
    }

    static String stops(int depth) {
        double[] tissues = new double[16];
        StringBuilder plan = new StringBuilder();
        for (int minute = 0; minute < @{stops}; minute++) {
            double pressure = 1 + Math.max(0, depth - minute) / 10.0, worst = 0;
            for (int i = 0; i < 16; i++) {
                tissues[i] += (pressure * 0.79 - tissues[i]) * (1 - Math.pow(2, -1.0 / (4 + i * 12)));
                worst = Math.max(worst, tissues[i] / (0.6 + i * 0.05));
            }
            if (worst > pressure) {
                plan.append(minute).append(' ');
            }
        }
        return plan.toString();
    }

    static void serve(Socket diver) {
        try (diver; var in = new BufferedReader(new InputStreamReader(diver.getInputStream()))) {
            diver.setTcpNoDelay(true);
            for (String line; (line = in.readLine()) != null;) {
                int n = Integer.parseInt(line.replaceAll("\\D", ""));
                double risk = 0;
                for (String answer : @{fnCamel}(n % 211, n % 30).values()) {
                    risk += Double.parseDouble(found(VALUE, answer));
                }
                diver.getOutputStream().write((n % 211 + " " + risk + " " + stops(18 + n % 25) + "\n").getBytes());
            }
        } catch (Exception e) {
            System.err.println(e);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ServerSocket door = new ServerSocket(@{port}, 64, InetAddress.getLoopbackAddress());
        while (true) {
            Socket diver = door.accept();
            new Thread(() -> serve(diver)).start();
        }
    }
}
