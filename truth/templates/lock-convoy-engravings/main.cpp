// Turns drawings into the paths of an engraving machine, strip by strip. The memory of the strips is shared by all of the cutters.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <pthread.h>

namespace {

constexpr int cutters = @{cutters}, strips = @{strips}, batch = @{batch}, width = 700;
constexpr bool together = @{together};
constexpr double rate = @{rate}, duration = @{seconds};
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A lock that serves whoever came first.
class Turnstile {
public:
    void lock() {
        std::unique_lock<std::mutex> guard(inside);
        if (!taken && line.empty()) {
            taken = true;
            return;
        }
        auto me = line.emplace(line.end());
        me->come.wait(guard, [&] { return me->called; });
        line.erase(me);
    }

    void unlock() {
        std::lock_guard<std::mutex> guard(inside);
        auto next = std::find_if(line.begin(), line.end(), [](const Waiter &w) { return !w.called; });
        if (next == line.end()) {
            taken = false;
            return;
        }
        next->called = true;
        next->come.notify_one();
    }

private:
    struct Waiter {
        std::condition_variable come;
        bool called = false;
    };
    std::mutex inside;
    std::list<Waiter> line;
    bool taken = false;
};

using Strip = std::vector<std::uint16_t>;

class Depot {
public:
    Depot() : all(cutters * (batch + 1), Strip(width)) {
        for (auto &strip : all)
            free.push_back(&strip);
    }

    // Of the last ones that came back those at the lowest addresses, so that the upper ones may stay cold.
    __attribute__((noinline)) void @{fn}(std::vector<Strip *> &into, int many) {
        std::lock_guard<Turnstile> guard(@{depot});
        while (many-- > 0) {
            auto best = std::min_element(free.size() > 48 ? free.end() - 48 : free.begin(), free.end());
            into.push_back(*best);
            *best = free.back();
            free.pop_back();
        }
    }

    __attribute__((noinline)) void put_back(std::vector<Strip *> &used) {
        std::lock_guard<Turnstile> guard(@{depot});
        free.insert(free.end(), used.begin(), used.end());
        used.clear();
    }

private:
    Turnstile @{depot};
    std::vector<Strip> all;
    std::vector<Strip *> free;
};

struct Cutter {
    Depot &depot;
    pthread_barrier_t &press;
    int number;
    long units = 0;
    double busy = 0, waited = 0;
    std::uint64_t sum = 0;

    void hatch(Strip &strip, int row) {
        for (int pass = 0; pass < @{hatching}; pass++)
            for (int x = 0; x < width; x++)
                strip[x] = std::uint16_t(pass == 0 ? row * 31 + x : strip[x] * 5 + (strip[x] >> 7) + pass);
        sum += strip[row % width];
    }

    void drawing() {
        std::vector<Strip *> mine;
        for (int row = 0; row < strips;) {
            int many = std::min(batch, strips - row);
            auto asked = Clock::now();
            depot.@{fn}(mine, many);
            waited += since(asked);
            for (Strip *strip : mine)
                hatch(*strip, row++);
            asked = Clock::now();
            depot.put_back(mine);
            waited += since(asked);
        }
    }

    void work(Clock::time_point began) {
        long rounds = long(duration * rate);
        while (together ? units < rounds : since(began) < duration) {
            auto start = Clock::now();
            drawing();
            units++;
            busy += since(start);
            if (together)
                pthread_barrier_wait(&press);
            double due = (units + (together ? 0.0 : double(number) / cutters)) / rate;
            std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due)));
        }
    }
};

}

int main() {
    Depot depot;
    pthread_barrier_t press;
    pthread_barrier_init(&press, nullptr, cutters);
    std::list<Cutter> all;
    std::vector<std::thread> threads;
    auto began = Clock::now();
    for (int i = 0; i < cutters; i++) {
        all.push_back(Cutter{depot, press, i});
        threads.emplace_back(&Cutter::work, &all.back(), began);
        pthread_setname_np(threads.back().native_handle(), ("cutter-" + std::to_string(i)).c_str());
    }
    long units = 0;
    double busy = 0, waited = 0;
    for (auto &thread : threads)
        thread.join();
    for (auto &cutter : all) {
        units += cutter.units;
        busy += cutter.busy;
        waited += cutter.waited;
        std::cout << "cutter " << cutter.number << ": " << cutter.sum << "\n";
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << waited << "}";
}
