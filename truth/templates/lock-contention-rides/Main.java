// A taxi exchange: gives each ride to the nearest free car, and moves the car to where it goes.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

public class @{Class} {
    static final int DISTRICTS = 32;
    static final boolean BY_DISTRICT = "@{guard}".equals("district");

    static class Car {
        final int number;
        float x, y;
        int rides;

        Car(int number, float x, float y) {
            this.number = number;
            this.x = x;
            this.y = y;
        }
    }

    record Ride(int district, float x, float y, float toX, float toY, double route) {}

    final List<List<Car>> districts = new ArrayList<>();
    final List<ReentrantLock> guards = new ArrayList<>();
    final ReentrantLock @{lock} = new ReentrantLock();

    @{Class}(int taxis) {
        Random chance = new Random(3);
        for (int d = 0; d < DISTRICTS; d++) {
            districts.add(new ArrayList<>());
            guards.add(new ReentrantLock());
        }
        for (int i = 0; i < taxis; i++) districts.get(i % DISTRICTS).add(new Car(i, chance.nextFloat() * 10, chance.nextFloat() * 10));
    }

    class Desk extends Thread {
        final int number;
        final long began;
        final Random chance;
        int units;
        double busy, waited, fares;

        Desk(int number, long began) {
            super("desk-" + number);
            this.number = number;
            this.began = began;
            chance = new Random(number);
        }

        Car nearest(Ride ride) {
            Car best = null;
            double nearest = 1e9;
            for (int d = 0; d < DISTRICTS; d++) {
                if (BY_DISTRICT && d != ride.district) continue;
                for (Car car : districts.get(d)) {
                    double far = Math.hypot(car.x - ride.x, 0) + Math.abs(car.y - ride.y) + (d == ride.district ? 0 : 3) + car.rides * 0.01;
                    if (far < nearest) {
                        nearest = far;
                        best = car;
                    }
                }
            }
            return best;
        }

        int @{fnCamel}(Ride ride) {
            ReentrantLock guard = BY_DISTRICT ? guards.get(ride.district) : @{lock};
            long start = System.nanoTime();
            guard.lock();
            try {
                waited += (System.nanoTime() - start) / 1e9;
                Car car = nearest(ride);
                if (car == null) return -1;
                car.x = ride.toX;
                car.y = ride.toY;
                return car.number + ++car.rides;
            } finally {
                guard.unlock();
            }
        }

        // A ride, and the length of its way through the streets.
        Ride ordered() {
            float x = chance.nextFloat() * 10, y = chance.nextFloat() * 10, toX = chance.nextFloat() * 10, toY = chance.nextFloat() * 10;
            double route = 0, straight = Math.hypot(toX - x, toY - y) / 400;
            for (int leg = 0; leg < 400; leg++) route += straight * (1 + 0.3 * Math.sin(leg / 10.0 + x));
            return new Ride(chance.nextInt(DISTRICTS), x, y, toX, toY, route);
        }

        @Override
        public void run() {
            while ((System.nanoTime() - began) / 1e9 < @{seconds}) {
                long start = System.nanoTime();
                Ride ride = ordered();
                if (@{fnCamel}(ride) >= 0) fares += 3.5 + ride.route * 2.1;
                units++;
                busy += (System.nanoTime() - start) / 1e9;
                double early = (units + number / (@{workers} + 1.0)) / @{rate} - (System.nanoTime() - began) / 1e9;
                try {
                    if (early > 0) sleep((long) (early * 1000), (int) (early * 1e9 % 1e6));
                } catch (InterruptedException e) {
                    return;
                }
            }
            System.out.printf("%s: %d rides, %.2f%n", getName(), units, fares);
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        @{Class} exchange = new @{Class}(@{taxis});
        long began = System.nanoTime();
        List<Desk> desks = new ArrayList<>();
        for (int i = 0; i < @{workers}; i++) desks.add(exchange.new Desk(i, began));
        desks.forEach(Thread::start);
        for (Desk desk : desks) desk.join();
        int units = desks.stream().mapToInt(desk -> desk.units).sum();
        double busy = desks.stream().mapToDouble(desk -> desk.busy).sum(), waited = desks.stream().mapToDouble(desk -> desk.waited).sum();
        Files.writeString(Path.of("@{report}"), String.format("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, waited));
    }
}
