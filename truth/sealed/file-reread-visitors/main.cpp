// Tells web servers which countries their visitors come from. A question is a datagram: a number and addresses.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

static const fs::path table_path = "@{work}/@{folder}/@{table}";

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Range {
    uint32_t start;
    char country[2];
    char unused[2];
};
static_assert(sizeof(Range) == 8);

struct Sums {
    long units = 0;
    double busy = 0, reading = 0;
};

class Worker {
public:
    explicit Worker(int door) : door_(door) {}

    void work(Clock::time_point until) {
        std::array<char, 2048> question;
        while (Clock::now() < until) {
            sockaddr_in asker{};
            socklen_t size = sizeof asker;
            ssize_t got = recvfrom(door_, question.data(), question.size(), 0, reinterpret_cast<sockaddr *>(&asker), &size);
            if (got <= 0)
                continue;
            auto start = Clock::now();
            std::string said = answer(std::string(question.data(), static_cast<size_t>(got)));
            sendto(door_, said.data(), said.size(), 0, reinterpret_cast<sockaddr *>(&asker), size);
            sums.busy += since(start);
            sums.units++;
        }
    }

    Sums sums;

private:
    __attribute__((noinline)) void @{fn}() {
        auto start = Clock::now();
        std::ifstream table(table_path, std::ios::binary);
        ranges_.resize(fs::file_size(table_path) / sizeof(Range));
        table.read(reinterpret_cast<char *>(ranges_.data()), static_cast<std::streamsize>(ranges_.size() * sizeof(Range)));
        sums.reading += since(start);
    }

    void refresh() {
        if (!@{keep}) {
            @{fn}();
            return;
        }
        if (since(looked_) < 1 && !ranges_.empty())
            return;
        looked_ = Clock::now();
        auto version = fs::last_write_time(table_path);
        if (ranges_.empty() || version != version_)
            @{fn}();
        version_ = version;
    }

    std::string answer(const std::string &question) {
        std::istringstream words(question);
        std::string said, word;
        words >> said;
        refresh();
        while (words >> word) {
            in_addr address{};
            if (inet_pton(AF_INET, word.c_str(), &address) != 1)
                continue;
            auto after = std::upper_bound(ranges_.begin(), ranges_.end(), ntohl(address.s_addr),
                                          [](uint32_t wanted, const Range &range) { return wanted < ntohl(range.start); });
            std::string country = after == ranges_.begin() ? "??" : std::string(std::prev(after)->country, 2);
            seen_[country]++;
            said += " " + country;
        }
        return said;
    }

    int door_;
    std::vector<Range> ranges_;
    std::map<std::string, long> seen_;
    Clock::time_point looked_{};
    fs::file_time_type version_{};
};

int main() {
    int door = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{0, 200000};
    setsockopt(door, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
        std::perror("door");
        return 1;
    }
    auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(@{seconds}));
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<std::thread> threads;
    for (int i = 0; i < @{workers}; i++) {
        workers.push_back(std::make_unique<Worker>(door));
        threads.emplace_back(&Worker::work, workers.back().get(), until);
    }
    Sums all;
    for (size_t i = 0; i < threads.size(); i++) {
        threads[i].join();
        all.units += workers[i]->sums.units;
        all.busy += workers[i]->sums.busy;
        all.reading += workers[i]->sums.reading;
    }
    std::ofstream("@{report}") << "{\"units\": " << all.units << ", \"seconds\": " << all.busy << ", \"culprit\": " << all.reading << "}\n";
}
