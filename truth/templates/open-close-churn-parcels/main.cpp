// Keeps the trace of a depot: each scan of a parcel is a line of it.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

enum class Hold { scan, lorry, always };

struct Scan {
    std::string code;
    int lane;
    int grams;
};

class Depot {
public:
    explicit Depot(Hold hold) : hold(hold) {
        if (hold == Hold::always) open(kept);
    }

    void take(const std::vector<Scan> &lorry) {
        if (hold == Hold::lorry) open(kept);
        for (const Scan &scan : lorry) {
            std::string line = scan.code + " lane=" + std::to_string(scan.lane) + " weight=" + std::to_string(scan.grams);
            line += valid(scan.code) ? " ok\n" : " check\n";
            weights[scan.lane] += scan.grams;
            @{fn}(line);
        }
        if (hold == Hold::lorry) kept.close();
        if (hold == Hold::always) kept.flush();
    }

    double spent = 0;

private:
    static void open(std::ofstream &file) { file.open("@{work}/@{folder}/@{trace}", std::ios::app); }

    static bool valid(const std::string &code) {
        int sum = 0;
        for (size_t i = 0; i < 9; i++) sum += (code[i] - '0') * (i % 2 ? 1 : 3);
        return (10 - sum % 10) % 10 == code[9] - '0';
    }

    __attribute__((noinline)) void @{fn}(const std::string &line) {
        auto start = Clock::now();
        if (hold == Hold::scan) {
            std::ofstream file;
            open(file);
            file << line;
        } else {
            kept << line;
        }
        spent += since(start);
    }

    Hold hold;
    std::ofstream kept;
    std::map<int, long> weights;
};

static std::vector<Scan> lorry(long number) {
    std::vector<Scan> scans;
    for (long i = 0; i < @{scans}; i++) {
        char code[16];
        snprintf(code, sizeof code, "%010ld", (number * 7919 + i * 104729) % 9999999967L);
        scans.push_back({code, int(i % @{lanes}), int(200 + i * 37 % 29000)});
    }
    return scans;
}

int main() {
    Depot depot(Hold::@{hold});
    long units = 0;
    double busy = 0;
    auto began = Clock::now(), due = began;
    auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / @{rate}));
    while (since(began) < @{seconds}) {
        auto scans = lorry(units);
        auto start = Clock::now();
        depot.take(scans);
        units++;
        busy += since(start);
        due = std::max(due + period, Clock::now());
        std::this_thread::sleep_until(due);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << depot.spent << "}";
}
