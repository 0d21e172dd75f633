// Which lines of a log are requests of pages? For three seconds of CPU, of which the first are profiled. `slow` makes a pattern for
// each line, `fixed` looks for the words instead.
public class Log {
    static final String LINE = "10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] \"GET /feed/4711 HTTP/1.1\" 200 12 0.057";

    static boolean byPattern(String line) {
        return line.matches(".*\"GET /[a-z]+/[0-9]+ HTTP/1\\.[01]\".*");
    }

    static boolean byWords(String line) {
        int quote = line.indexOf('"');
        return quote >= 0 && line.startsWith("\"GET /", quote) && line.indexOf(" HTTP/1.", quote) > 0;
    }

    public static void main(String[] arguments) {
        boolean slow = arguments[0].equals("slow");
        var cpu = java.lang.management.ManagementFactory.getThreadMXBean();
        long found = 0, lines = 0;
        while (cpu.getCurrentThreadCpuTime() < 3_000_000_000L)
            for (int i = 0; i < 5000; i++, lines++)
                if (slow ? byPattern(LINE) : byWords(LINE)) found++;
        System.out.println(found + " of " + lines + " lines");
    }
}
