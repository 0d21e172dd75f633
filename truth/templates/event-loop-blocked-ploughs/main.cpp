// The control centre of the snow ploughs. GET /next tells a driver the next street of the round; the police say by datagrams which streets are shut or open.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using Clock = std::chrono::steady_clock;
using Round = std::vector<int>;

constexpr int STREETS = @{streets};
const bool HERE = std::string("@{place}") == "here";
const std::chrono::microseconds EFFORT(long(@{effort} * 1000));

class Planner {
public:
    Planner() {
        std::uniform_real_distribution<double> east(0, 9000), north(0, 6000);
        for (int i = 0; i < STREETS; i++)
            places.push_back({east(chance), north(chance)});
    }

    // Turns parts of the round about, as long as there is time, and keeps what makes it shorter.
    __attribute__((noinline)) Round @{fn}(Round round) {
        const size_t size = round.size();
        const auto stop = Clock::now() + EFFORT;
        while (Clock::now() < stop) {
            for (int k = 0; k < 200; k++) {
                size_t i = chance() % (size - 2), j = i + 1 + chance() % (size - i - 2);
                int a = round[i], b = round[i + 1], c = round[j], d = round[j + 1];
                if (between(a, b) + between(c, d) > between(a, c) + between(b, d) + 1e-6)
                    std::reverse(round.begin() + i + 1, round.begin() + j + 1);
            }
        }
        return round;
    }

private:
    struct Place {
        double x, y;
    };
    double between(int from, int to) const { return std::hypot(places[from].x - places[to].x, places[from].y - places[to].y); }
    std::vector<Place> places;
    std::mt19937 chance{5};
};

class Centre {
public:
    Centre() : round(STREETS) {
        std::iota(round.begin(), round.end(), 0);
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int on = 1;
        door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        here.sin_port = htons(@{port});
        must(bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) == 0 && listen(door, 64) == 0, "listen");
        notes = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        here.sin_port = htons(@{notes});
        must(bind(notes, reinterpret_cast<sockaddr *>(&here), sizeof here) == 0, "bind");
        planned = eventfd(0, EFD_NONBLOCK);
        loop = epoll_create1(0);
        for (int fd : {door, notes, planned})
            watch(fd);
    }

    void run() {
        epoll_event events[64];
        for (;;) {
            int n = epoll_wait(loop, events, 64, -1);
            for (int i = 0; i < n; i++) {
                int fd = events[i].data.fd;
                if (fd == door)
                    welcome();
                else if (fd == notes)
                    note();
                else if (fd == planned)
                    take_over();
                else
                    ask(fd);
            }
        }
    }

private:
    static void must(bool well, const char *what) {
        if (!well) {
            perror(what);
            exit(1);
        }
    }

    void watch(int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        must(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    }

    void welcome() {
        int driver = accept4(door, nullptr, nullptr, SOCK_NONBLOCK), on = 1;
        if (driver < 0)
            return;
        setsockopt(driver, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        drivers[driver];
        watch(driver);
    }

    Round open_streets() const {
        Round kept;
        std::set<int> there;
        for (int street : round)
            if (!shut.count(street)) {
                kept.push_back(street);
                there.insert(street);
            }
        for (int street = 0; street < STREETS; street++)
            if (!shut.count(street) && !there.count(street))
                kept.push_back(street);
        return kept;
    }

    void note() {
        char text[64] = {};
        if (recv(notes, text, sizeof text - 1, 0) <= 0)
            return;
        int street = atoi(text + 5);
        if (text[0] == 's')
            shut.insert(street);
        else
            shut.erase(street);
        round = open_streets();
        if (HERE)
            round = planner.@{fn}(round);
        else if (!aside.valid())
            aside = std::async(std::launch::async, [this, from = round] {
                Round made = planner.@{fn}(from);
                eventfd_write(planned, 1);
                return made;
            });
    }

    void take_over() {
        eventfd_t count;
        eventfd_read(planned, &count);
        round = aside.get();
        round = open_streets();
    }

    void ask(int driver) {
        char part[2048];
        ssize_t n = read(driver, part, sizeof part);
        if (n <= 0) {
            drivers.erase(driver);
            close(driver);
            return;
        }
        std::string &asked = drivers[driver];
        asked.append(part, n);
        for (size_t end; (end = asked.find("\r\n\r\n")) != std::string::npos; asked.erase(0, end + 4)) {
            at = (at + 1) % round.size();
            size_t plough = asked.find("plough=");
            char body[128], text[300];
            int size = snprintf(body, sizeof body, "{\"plough\": %d, \"street\": %d, \"left\": %zu}",
                                plough < end ? atoi(asked.c_str() + plough + 7) : 0, round[at], round.size() - at);
            size = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, body);
            if (write(driver, text, size) < 0)
                return;
        }
    }

    Planner planner;
    Round round;
    std::set<int> shut;
    std::future<Round> aside;
    std::map<int, std::string> drivers;
    size_t at = 0;
    int door, notes, planned, loop;
};

int main() {
    signal(SIGPIPE, SIG_IGN);
    Centre().run();
}
