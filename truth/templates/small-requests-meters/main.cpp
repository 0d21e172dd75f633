// Hands the readings of electricity meters over to the collector of the grid.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Reading {
    uint32_t time, watts;
    bool measured;
};

struct Hour {
    double watts = 0;
    int count = 0, measured = 0;
};

static double now()
{
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Collector {
public:
    explicit Collector(const char *path) : line_(socket(AF_UNIX, SOCK_STREAM, 0))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        strncpy(address.sun_path, path, sizeof address.sun_path - 1);
        if (connect(line_, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error(std::string("collector: ") + strerror(errno));
    }

    uint32_t hand(uint32_t meter, const Reading *first, size_t count)
    {
        std::vector<uint32_t> frame{htonl(4 + 8 * count), htonl(meter)};
        for (size_t i = 0; i < count; i++) {
            frame.push_back(htonl(first[i].time));
            frame.push_back(htonl(first[i].watts));
        }
        uint32_t receipt[2];
        if (write(line_, frame.data(), frame.size() * 4) < 0 || recv(line_, receipt, sizeof receipt, MSG_WAITALL) != sizeof receipt)
            throw std::runtime_error("the collector is gone");
        if (ntohl(receipt[0]) != count)
            throw std::runtime_error("the collector has not taken all");
        return ntohl(receipt[1]);
    }

private:
    int line_;
};

static std::vector<Reading> load_readings(const std::string &path)
{
    std::ifstream in(path);
    std::vector<Reading> readings;
    for (std::string line, field; std::getline(in, line);) {
        std::istringstream fields(line);
        Reading reading{};
        std::getline(fields, field, ';');
        reading.time = std::stoul(field);
        std::getline(fields, field, ';');
        reading.watts = static_cast<uint32_t>(std::lround(std::stod(field) * 1000));
        std::getline(fields, field, ';');
        reading.measured = field == "measured";
        readings.push_back(reading);
    }
    return readings;
}

static std::map<std::string, Hour> by_hour(const std::vector<Reading> &readings)
{
    std::map<std::string, Hour> hours;
    for (const Reading &reading : readings) {
        time_t time = reading.time;
        std::tm parts{};
        gmtime_r(&time, &parts);
        std::ostringstream name;
        name << std::put_time(&parts, "%Y-%m-%d %H");
        Hour &hour = hours[name.str()];
        hour.watts += reading.watts;
        hour.count++;
        hour.measured += reading.measured;
    }
    return hours;
}

__attribute__((noinline)) static uint64_t @{fn}(Collector &collector, uint32_t meter, const std::vector<Reading> &readings)
{
    const size_t frame = @{frame};
    uint64_t sum = 0;
    for (size_t at = 0; at < readings.size(); at += frame)
        sum += collector.hand(meter, &readings[at], std::min(frame, readings.size() - at));
    return sum;
}

int main()
{
    Collector collector("@{work}/@{sock}");
    std::deque<std::string> journal;
    long units = 0;
    double busy = 0, handing = 0;
    const double began = now();
    for (double start; (start = now()) - began < @{seconds};) {
        const uint32_t meter = units % @{meters} + 1;
        const auto readings = load_readings("@{work}/@{inbox}/meter-" + std::to_string(meter) + ".csv");
        const auto hours = by_hour(readings);
        std::vector<Reading> due;
        for (size_t i = 0; i < readings.size(); i += @{every})
            due.push_back(readings[i]);
        const double asked = now();
        const uint64_t sum = @{fn}(collector, meter, due);
        handing += now() - asked;
        journal.push_back("meter " + std::to_string(meter) + ": " + std::to_string(hours.size()) + " hours, " + std::to_string(sum) + " W");
        if (journal.size() > 200)
            journal.pop_front();
        units++;
        busy += now() - start;
        const double rest = began + units / static_cast<double>(@{pace}) - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << handing << "}";
}
