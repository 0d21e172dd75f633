#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <unistd.h>

// Joins: for each batch of orders the rows of their customers are fetched from a table, by a buffered stream.
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Customers {
    std::ifstream file;
    std::vector<char> row;
    uint64_t rows, cursor = 0;
    std::mt19937_64 chance{17};

public:
    double reading = 0;

    explicit Customers(const std::string &path) : row(@{kb} * 1024)
    {
        file.rdbuf()->pubsetbuf(nullptr, 0);
        file.open(path, std::ios::binary | std::ios::ate);
        rows = file.tellg() / row.size();
        if (std::string("@{order}") == "any") {
            std::vector<char> all(1 << 20);
            file.seekg(0);
            while (file.read(all.data(), all.size()))
                ;
            file.clear();
        }
    }

    const std::vector<char> &__attribute__((noinline)) @{fn}()
    {
        uint64_t number = std::string("@{order}") == "any" ? chance() % rows : cursor++ % rows;
        auto start = Clock::now();
        file.seekg(number * row.size());
        file.read(row.data(), row.size());
        reading += since(start);
        return row;
    }
};

int main()
{
    std::ofstream("/sys/fs/cgroup/memory/@{slice}/cgroup.procs") << getpid() << std::endl;
    Customers customers("@{work}/@{data}");
    long units = 0;
    uint64_t sum = 0;
    double busy = 0;
    auto began = Clock::now(), due = began;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        for (int order = 0; order < @{reads}; order++) {
            auto &row = customers.@{fn}();
            for (int round = 0; round < @{rounds}; round++)
                for (int at = 0; at < 2048; at++)
                    sum = sum * 131 + row[at];
        }
        busy += since(start);
        units++;
        due = std::max(due + std::chrono::microseconds(long(1e6 / @{per_s})), Clock::now());
        std::this_thread::sleep_until(due);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << customers.reading << ", \"sum\": " << sum % 1000 << "}";
}
