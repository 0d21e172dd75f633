import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.FileHandler;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.zip.CRC32;

public class @{Class} {
    static final Logger LOG = Logger.getLogger(@{Class}.class.getName());
    static final AtomicLong units = new AtomicLong(), busy = new AtomicLong(), logging = new AtomicLong();

    static class Line extends Formatter {
        @Override
        public String format(LogRecord entry) {
            String level = entry.getLevel().intValue() < Level.INFO.intValue() ? "DEBUG" : entry.getLevel().getName();
            return entry.getInstant() + " " + level + " " + entry.getLoggerName() + " " + formatMessage(entry) + "\n";
        }
    }

    final String[] sessions = new String[@{events}];

    @{Class}() throws Exception {
        LOG.setUseParentHandlers(false);
        FileHandler file = new FileHandler("@{work}/@{log}", 50 << 20, 1, false);
        file.setFormatter(new Line());
        file.setLevel(Level.ALL);
        LOG.addHandler(file);
        LOG.setLevel("@{level}".equals("DEBUG") ? Level.FINE : Level.INFO);
        for (int i = 0; i < sessions.length; i++) {
            sessions[i] = "session=" + i + " state=" + "attribute;".repeat(@{width} / 10 - 8);
        }
    }

    void @{fnCamel}() {
        long start = System.nanoTime(), logged = 0;
        CRC32 sum = new CRC32();
        for (String session : sessions) {
            for (int i = 0; i < @{scale}; i++) {
                sum.update(session.charAt(i));
            }
        }
        long before = System.nanoTime();
        for (String session : sessions) {
            LOG.fine(() -> "checked " + session);
        }
        if (@{access} == 1) {
            LOG.info("GET /sessions 200 " + sessions.length + " " + sum.getValue());
        }
        logging.addAndGet(System.nanoTime() - before);
        units.incrementAndGet();
        busy.addAndGet(System.nanoTime() - start);
    }

    public static void main(String[] args) throws Exception {
        @{Class} app = new @{Class}();
        double rate = Math.min(60, @{megabytes} * 1e6 / (@{width} * (double) @{events}));
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        clock.scheduleAtFixedRate(app::@{fnCamel}, 0, (long) (1e9 / rate), TimeUnit.NANOSECONDS);
        Thread.sleep((long) (@{seconds} * 1000));
        clock.shutdown();
        clock.awaitTermination(10, TimeUnit.SECONDS);
        Files.writeString(Path.of("@{report}"), String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units.get(), busy.get() / 1e9, logging.get() / 1e9));
    }
}
