// Collects what charging stations report, and keeps the sums by street.
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double now()
{
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Station {
    std::string rest;

  public:
    const int fd;
    const unsigned street;

    Station(int fd, unsigned number) : fd(fd), street(number / 8) {}
    ~Station() { close(fd); }
    Station(const Station &) = delete;

    // The lines that have come.
    std::vector<std::string> hear()
    {
        std::vector<std::string> lines;
        char text[2048];
        ssize_t got = recv(fd, text, sizeof text, MSG_DONTWAIT);
        if (got > 0)
            rest.append(text, got);
        for (size_t end; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1))
            lines.push_back(rest.substr(0, end));
        return lines;
    }
};

class Loop {
    const int kernel = epoll_create1(EPOLL_CLOEXEC);
    bool is_armed = false;

  public:
    double spent = 0;
    std::vector<std::unique_ptr<Station>> stations;

    // Whom to listen to in this turn.
    __attribute__((noinline)) void @{fn}()
    {
        if (is_armed)
            return;
        double start = now();
        for (auto &station : stations) {
            epoll_event event = {};
            event.events = EPOLLIN;
            event.data.ptr = station.get();
            epoll_ctl(kernel, EPOLL_CTL_ADD, station->fd, &event);
        }
        is_armed = true;
        spent += now() - start;
    }

    __attribute__((noinline)) void @{fn2}()
    {
        if (std::string("@{arm}") == "once")
            return;
        double start = now();
        for (auto &station : stations)
            epoll_ctl(kernel, EPOLL_CTL_DEL, station->fd, nullptr);
        is_armed = false;
        spent += now() - start;
    }

    std::vector<Station *> wait(int most_ms)
    {
        std::array<epoll_event, 64> events;
        int got = epoll_wait(kernel, events.data(), events.size(), most_ms);
        std::vector<Station *> ready;
        for (int i = 0; i < got; i++)
            ready.push_back(static_cast<Station *>(events[i].data.ptr));
        return ready;
    }
};

class Sums {
    std::unordered_map<unsigned, double> by_street;

  public:
    unsigned long readings = 0;

    void take(const Station &station, const std::string &line)
    {
        char *end;
        unsigned long number = std::strtoul(line.c_str(), &end, 10);
        double charged = std::strtod(end + 1, &end);
        // A reading is only valid with its mark.
        unsigned long mark = number;
        for (int i = 0; i < @{effort} * 800; i++)
            mark = (mark ^ line[i % line.size()]) * 1099511628211ul;
        by_street[station.street] += charged + (mark & 1) * 1e-9;
        readings++;
    }
};

static int connected()
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{feed});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address)) {
        perror("a station");
        exit(1);
    }
    return fd;
}

int main()
{
    Loop loop;
    Sums sums;
    for (unsigned number = 0; number < @{stations}; number++)
        loop.stations.push_back(std::make_unique<Station>(connected(), number));
    double busy = 0, end = now() + @{seconds};
    while (now() < end) {
        double start = now();
        loop.@{fn}();
        busy += now() - start;
        auto ready = loop.wait(200);
        start = now();
        loop.@{fn2}();
        for (Station *station : ready)
            for (auto &line : station->hear())
                sums.take(*station, line);
        busy += now() - start;
    }
    std::ofstream("@{report}") << "{\"units\": " << sums.readings << ", \"seconds\": " << busy << ", \"culprit\": " << loop.spent << "}";
    return 0;
}
