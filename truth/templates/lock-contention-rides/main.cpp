// A taxi exchange: gives each ride to the nearest free car, and moves the car to where it goes.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

constexpr int kDistricts = 32;

struct Car {
    int number;
    float x, y;
    int rides;
};

struct Ride {
    int district;
    float x, y, to_x, to_y;
    double route;
};

struct Account {
    int units = 0;
    double busy = 0, waited = 0;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Exchange {
public:
    explicit Exchange(int taxis) {
        std::mt19937 chance(3);
        std::uniform_real_distribution<float> place(0, 10);
        for (int i = 0; i < taxis; i++) districts_[i % kDistricts].push_back({i, place(chance), place(chance), 0});
    }

    // The car that takes the ride; `waited` grows by what it took until the map was free.
    __attribute__((noinline)) int @{fn}(const Ride& ride, double& waited) {
        auto start = Clock::now();
        std::unique_lock<std::mutex> held(guard(ride.district));
        waited += since(start);
        Car* best = nullptr;
        float nearest = 1e9;
        for (int d = 0; d < kDistricts; d++) {
            // Without a map of its own for each district, any car may be the one.
            if (std::string("@{guard}") == "district" && d != ride.district) continue;
            for (Car& car : districts_[d]) {
                float dx = car.x - ride.x, dy = car.y - ride.y;
                float far = std::sqrt(dx * dx + dy * dy) + (d != ride.district) * 3 + car.rides * 0.01f;
                if (far < nearest) {
                    nearest = far;
                    best = &car;
                }
            }
        }
        if (!best) return -1;
        best->x = ride.to_x;
        best->y = ride.to_y;
        best->rides++;
        return best->number;
    }

private:
    std::mutex& guard(int district) { return std::string("@{guard}") == "district" ? locks_[district] : @{lock}_; }

    std::array<std::vector<Car>, kDistricts> districts_;
    std::array<std::mutex, kDistricts> locks_;
    std::mutex @{lock}_;
};

// What the ride costs, by the length of its way through the streets.
Ride ordered(std::mt19937& chance) {
    std::uniform_real_distribution<float> place(0, 10);
    Ride ride{static_cast<int>(chance() % kDistricts), place(chance), place(chance), place(chance), place(chance), 0};
    for (int leg = 0; leg < 400; leg++) {
        double part = leg / 400.0;
        ride.route += std::hypot((ride.to_x - ride.x) / 400, (ride.to_y - ride.y) / 400) * (1 + 0.3 * std::sin(part * 40 + ride.x));
    }
    return ride;
}

void desk(Exchange& exchange, int number, Clock::time_point began, Account& account) {
    std::mt19937 chance(number);
    double fares = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        Ride ride = ordered(chance);
        if (exchange.@{fn}(ride, account.waited) >= 0) fares += 3.5 + ride.route * 2.1;
        account.units++;
        account.busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>((account.units + number / (@{workers} + 1.0)) / @{rate})));
    }
    printf("desk %d: %d rides, %.2f\n", number, account.units, fares);
}

int main() {
    Exchange exchange(@{taxis});
    std::vector<Account> accounts(@{workers});
    std::vector<std::thread> desks;
    auto began = Clock::now();
    for (int i = 0; i < @{workers}; i++) desks.emplace_back(desk, std::ref(exchange), i, began, std::ref(accounts[i]));
    for (auto& one : desks) one.join();
    Account sum;
    for (auto& one : accounts) {
        sum.units += one.units;
        sum.busy += one.busy;
        sum.waited += one.waited;
    }
    std::ofstream("@{report}") << "{\"units\": " << sum.units << ", \"seconds\": " << sum.busy << ", \"culprit\": " << sum.waited << "}";
}
