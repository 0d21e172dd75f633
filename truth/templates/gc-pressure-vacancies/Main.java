// A portal of hotels: keeps what is free by town and night, and answers which is the cheapest.
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class @{Class} {
    static final int NIGHTS = @{nights}, TOWNS = @{towns};

    static class Hotel {
        String town;
        int stars, cents;
        byte[] free = new byte[NIGHTS];
    }

    static class Offer {
        final Hotel hotel;
        final int night;
        int cents;

        Offer(Hotel hotel, int night) {
            this.hotel = hotel;
            this.night = night;
            cents = price(hotel, night);
        }
    }

    record Booking(Hotel hotel, int night) {}

    final List<Hotel> hotels = new ArrayList<>();
    final Random chance = new Random(6);
    Map<String, List<List<Offer>>> index;

    @{Class}(int count) {
        List<String> towns = new ArrayList<>();
        for (int i = 0; i < TOWNS; i++) towns.add("town-" + i);
        for (int i = 0; i < count; i++) {
            Hotel hotel = new Hotel();
            hotel.town = towns.get(i % TOWNS);
            hotel.stars = chance.nextInt(5);
            hotel.cents = 4000 + chance.nextInt(20000);
            for (int night = 0; night < NIGHTS; night++) hotel.free[night] = (byte) chance.nextInt(5);
            hotels.add(hotel);
        }
        index = @{fnCamel}();
    }

    static int price(Hotel hotel, int night) {
        return hotel.cents + night % 7 * 350 - hotel.free[night] * 80;
    }

    // What is free, by town and night.
    Map<String, List<List<Offer>>> @{fnCamel}() {
        Map<String, List<List<Offer>>> made = new HashMap<>();
        for (Hotel hotel : hotels) {
            List<List<Offer>> nights = made.computeIfAbsent(hotel.town, town -> {
                List<List<Offer>> empty = new ArrayList<>();
                for (int night = 0; night < NIGHTS; night++) empty.add(new ArrayList<>());
                return empty;
            });
            for (int night = 0; night < NIGHTS; night++) {
                if (hotel.free[night] > 0) nights.get(night).add(new Offer(hotel, night));
            }
        }
        return made;
    }

    List<Booking> bookings() {
        List<Booking> made = new ArrayList<>();
        for (int i = 0; i < @{bookings}; i++) {
            Booking one = new Booking(hotels.get(chance.nextInt(hotels.size())), chance.nextInt(NIGHTS));
            one.hotel.free[one.night] = (byte) ((one.hotel.free[one.night] + 4) % 5);
            made.add(one);
        }
        return made;
    }

    void changed(List<Booking> made) {
        for (Booking one : made) {
            List<Offer> offers = index.get(one.hotel.town).get(one.night);
            boolean known = false;
            for (Offer offer : offers) {
                if (offer.hotel == one.hotel) {
                    offer.cents = price(one.hotel, one.night);
                    known = true;
                }
            }
            if (!known && one.hotel.free[one.night] > 0) offers.add(new Offer(one.hotel, one.night));
        }
    }

    // The cheapest of a town for a night, by stars.
    int cheapest(String town, int night) {
        Offer[] best = new Offer[5];
        for (Offer offer : index.get(town).get(night)) {
            Offer known = best[offer.hotel.stars];
            if (offer.hotel.free[night] > 0 && (known == null || offer.cents < known.cents)) best[offer.hotel.stars] = offer;
        }
        int sum = 0;
        for (Offer offer : best) sum += offer == null ? 0 : offer.cents;
        return sum;
    }

    static double collected() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum() / 1000.0;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        @{Class} portal = new @{Class}(@{hotels} * 2);
        long began = System.nanoTime(), built = began, shown = 0;
        double before = collected(), busy = 0;
        int units = 0;
        while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
            long start = System.nanoTime();
            List<Booking> made = portal.bookings();
            if ("@{index}".equals("anew") || "@{index}".equals("daily") && start - built > 2_000_000_000L) {
                portal.index = portal.@{fnCamel}();
                built = start;
            } else {
                portal.changed(made);
            }
            for (int i = 0; i < 200; i++) shown += portal.cheapest("town-" + (units * 200 + i) % TOWNS, i % NIGHTS);
            units++;
            busy += (System.nanoTime() - start) / 1e9;
            double early = units / (double) @{rate} - (System.nanoTime() - began) / 1e9;
            if (early > 0) Thread.sleep((long) (early * 1000));
        }
        System.out.println("shown for " + shown);
        double collector = Math.min(collected() - before, busy);
        Files.writeString(Path.of("@{report}"), String.format("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, collector));
    }
}
