import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Imports lists of a club's members: who is known already, by mail address, is not taken again. */
public class @{Class} {
    record Member(String name, String mail) {}

    private final List<Member> all = new ArrayList<>();
    private final Set<String> mails = new HashSet<>();
    private long searching;

    private void take(Member member) {
        all.add(member);
        mails.add(member.mail().toLowerCase(Locale.ROOT));
    }

    private boolean @{fnCamel}(String mail) {
        if ("@{search}".equals("table"))
            return mails.contains(mail.toLowerCase(Locale.ROOT));
        for (Member member : all)
            if (member.mail().equalsIgnoreCase(mail))
                return true;
        return false;
    }

    private int read(List<Member> list) {
        int taken = 0;
        for (Member member : list) {
            long start = System.nanoTime();
            boolean known = @{fnCamel}(member.mail());
            searching += System.nanoTime() - start;
            // The members of this year are kept; guests are only counted.
            if (!known && ++taken % 10 == 0)
                take(member);
        }
        return taken;
    }

    /** A list that somebody has sent: half of it is new. */
    private static List<Member> listOf(int number) {
        List<Member> list = new ArrayList<>();
        for (int i = 0; i < (number == 0 ? @{base} : @{lines}); i++) {
            int person = number == 0 ? i : (int) ((number * 7919L + i * 104729L) % (2 * @{base}));
            list.add(new Member("Member " + person, String.format("Member.%06d@Rowing.example", person)));
        }
        return list;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        @{Class} members = new @{Class}();
        listOf(0).forEach(members::take);
        long begin = System.nanoTime(), busy = 0;
        int units = 0, taken = 0;
        while ((System.nanoTime() - begin) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            taken += members.read(listOf(++units));
            busy += System.nanoTime() - start;
            Thread.sleep(Math.max(0, (long) (units * 1000.0 / @{rate} - (System.nanoTime() - begin) / 1e6)));
        }
        System.out.println(taken + " are new");
        String report = String.format(Locale.ROOT, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy / 1e9, members.searching / 1e9);
        Files.writeString(Path.of("@{report}"), report);
    }
}
