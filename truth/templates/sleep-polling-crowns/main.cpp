// Plans the crowns of a dental laboratory: the outline of a scan becomes a path for the mill, and the case gets its times.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Point {
    double x, y, z;
};

struct Case {
    int number;
    std::string tooth;
    std::vector<Point> outline;
};

class Mill {
public:
    Mill(const std::string& line, std::string results) : results_(std::move(results)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        line.copy(address.sun_path, sizeof address.sun_path - 1);
        line_ = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(line_, reinterpret_cast<sockaddr*>(&address), sizeof address)) throw std::runtime_error("no mill");
    }

    std::string cut(const Case& what, double way) {
        char text[80];
        int size = snprintf(text, sizeof text, "CUT %d %.3f %s\n", what.number, way, @{tell} ? "tell" : "quiet");
        if (write(line_, text, size) != size) throw std::runtime_error("the mill hung up");
        return results_ + "/crown-" + std::to_string(what.number) + ".result";
    }

    __attribute__((noinline)) double @{fn}(const std::string& path) {
        if (@{tell}) {
            char answer[64];
            if (read(line_, answer, sizeof answer) <= 0) throw std::runtime_error("the mill stopped");
        } else {
            while (!std::filesystem::exists(path)) std::this_thread::sleep_for(Millis(@{pace}));
        }
        std::ifstream result(path);
        std::string word;
        double number, minutes;
        unsigned bur;
        result >> word >> number >> word >> minutes >> word >> bur;
        std::filesystem::remove(path);
        wear_[bur % wear_.size()] += static_cast<long>(minutes * 60);
        return minutes;
    }

    int blunt() const {
        int count = 0;
        for (auto& worn : wear_) count += worn > 180 * 60;
        return count;
    }

private:
    int line_;
    std::string results_;
    std::array<std::atomic<long>, 5> wear_{};
};

static Case scanned(int number) {
    std::mt19937 chance(number);
    std::uniform_real_distribution<double> more(0, 1);
    Case found{number, std::to_string(1 + number % 4) + std::to_string(1 + number % 8), {}};
    for (int i = 0; i < @{points} * 4; i++) {
        double turn = i * 2 * M_PI / (@{points} * 4);
        found.outline.push_back({std::cos(turn) * (5 + more(chance)), std::sin(turn) * (4 + more(chance)), 2 + more(chance)});
    }
    return found;
}

// The way of the bur in millimetres: around the crown in layers, smoothed so that it never jumps.
static double planned(const Case& one) {
    double way = 0;
    auto layer = one.outline;
    for (int depth = 0; depth < 160; depth++) {
        auto smooth = layer;
        size_t count = layer.size();
        for (size_t i = 0; i < count; i++) {
            auto &before = layer[(i + count - 1) % count], &after = layer[(i + 1) % count];
            smooth[i] = {(before.x + 2 * layer[i].x + after.x) / 4, (before.y + 2 * layer[i].y + after.y) / 4, layer[i].z - 0.01};
            way += std::hypot(smooth[i].x - before.x, smooth[i].y - before.y, smooth[i].z - before.z);
        }
        layer.swap(smooth);
    }
    return way;
}

int main(int, char** arguments) {
    Mill mill(arguments[1], arguments[2]);
    std::atomic<bool> open{true};
    std::atomic<int> burs{0};
    std::thread hygiene;
    if (@{hygiene})
        hygiene = std::thread([&] {
            while (open) {
                std::this_thread::sleep_for(Millis(@{pace} * 4));
                burs = mill.blunt();
            }
        });
    std::map<std::string, double> book;
    int units = 0;
    double busy = 0, waited = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        Case one = scanned(units);
        auto path = mill.cut(one, planned(one));
        auto handed = Clock::now();
        book[one.tooth] += mill.@{fn}(path);
        waited += since(handed);
        units++;
        busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(units / @{rate})));
    }
    open = false;
    if (hygiene.joinable()) hygiene.join();
    for (auto& [tooth, minutes] : book) std::cout << tooth << ": " << minutes << " min\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << waited << "}";
}
