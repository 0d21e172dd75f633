// Compares the plates of the dome's cameras with a catalogue of the sky: which stars are where they should be?
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Star { double x, y, bright; };

// Who comes first is served first.
class Turnstile {
    struct Place { std::condition_variable called; bool mine = false; };
    std::mutex door;
    std::deque<Place *> line;
    bool taken = false;

public:
    void enter() {
        std::unique_lock hold(door);
        if (!taken) {
            taken = true;
            return;
        }
        Place place;
        line.push_back(&place);
        place.called.wait(hold, [&] { return place.mine; });
    }
    void leave() {
        std::lock_guard hold(door);
        if (line.empty()) {
            taken = false;
            return;
        }
        line.front()->mine = true;
        line.front()->called.notify_one();
        line.pop_front();
    }
};

static std::atomic<long> waited;

class Plate {
    Turnstile turn;
    std::vector<Star> stars;
    size_t next = 0;

public:
    explicit Plate(int number) : stars(@{list}) {
        std::minstd_rand chance(number + 1);
        std::uniform_real_distribution<double> some;
        for (Star &star : stars) star = {some(chance), some(chance), some(chance)};
    }

    // The brightest are at the front, so all matchers take from there.
    __attribute__((noinline)) std::pair<const Star *, const Star *> @{fn}() {
        auto start = Clock::now();
        turn.enter();
        waited += (long)(since(start) * 1e9);
        size_t from = next;
        size_t to = next = std::min(stars.size(), from + std::max(1, @{take}));
        turn.leave();
        return {stars.data() + from, stars.data() + to};
    }
};

class Sky {
    std::vector<std::array<double, 3>> catalogue{@{bright}};

public:
    Sky() {
        std::minstd_rand chance(1);
        std::uniform_real_distribution<double> some;
        for (auto &one : catalogue) one = {some(chance), some(chance), some(chance)};
    }
    double match(Plate &plate) const {
        double error = 0;
        for (auto some = plate.@{fn}(); some.first != some.second; some = plate.@{fn}())
            for (const Star *star = some.first; star != some.second; star++) {
                double best = 4;
                for (const auto &one : catalogue) {
                    double dx = one[0] - star->x, dy = one[1] - star->y, db = one[2] - star->bright;
                    best = std::min(best, dx * dx + dy * dy + 0.1 * db * db);
                }
                error += std::sqrt(best);
            }
        return error;
    }
};

int main() {
    Sky sky;
    double busy = 0;
    int units = 0;
    double error = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        Plate plate(units);
        std::vector<std::thread> matchers;
        std::vector<double> errors(@{matchers});
        for (int n = 0; n < @{matchers}; n++) matchers.emplace_back([&, n] { errors[n] = sky.match(plate); });
        for (auto &one : matchers) one.join();
        for (double one : errors) error += one;
        units++;
        busy += since(start);
        std::this_thread::sleep_for(std::chrono::duration<double>(units / (double)@{rate} - since(began)));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << waited / 1e9 / @{matchers} << "}";
    return error < 0;
}
