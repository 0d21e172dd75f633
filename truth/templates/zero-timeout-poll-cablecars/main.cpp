// Counts the rides of each cabin for the maintenance of its clamps.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using Ms = std::chrono::milliseconds;
static double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

struct Cabin {
    long messages = 0;
    double wear = 0;
};

class Maintenance {
    int line, events;
    std::string rest;
    std::map<int, Cabin> cabins;
    int worst = -1;

    void take()
    {
        char block[8192];
        ssize_t got = recv(line, block, sizeof block, MSG_DONTWAIT);
        if (got == 0)
            exit(1);
        if (got < 0)
            return;
        rest.append(block, got);
        size_t from = 0;
        for (size_t to; (to = rest.find('\n', from)) != std::string::npos; from = to + 1) {
            int id = 0, guests = 0;
            double speed = 0;
            if (sscanf(rest.c_str() + from, "%d %*d %lf %d", &id, &speed, &guests) == 3) {
                cabins[id].messages++;
                cabins[id].wear += speed * guests / 1000;
            }
            units++;
        }
        rest.erase(0, from);
    }

    void look_for_worst()
    {
        for (auto &[id, cabin] : cabins)
            if (worst < 0 || cabin.wear > cabins[worst].wear)
                worst = id;
    }

public:
    long units = 0;
    double busy = 0, empty = 0;

    explicit Maintenance(int port)
    {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        line = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(line, reinterpret_cast<sockaddr *>(&to), sizeof to)) {
            perror("cabins");
            exit(1);
        }
        events = epoll_create1(EPOLL_CLOEXEC);
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        epoll_ctl(events, EPOLL_CTL_ADD, line, &wanted);
    }

    __attribute__((noinline)) void @{fn}(double length)
    {
        auto began = Clock::now(), due = began + Ms(@{due_ms});
        while (seconds_since(began) < length) {
            auto start = Clock::now();
            long left = std::max(0L, (long)std::chrono::duration_cast<Ms>(due - start).count()) + @{slack};
            int wait = left / @{step} * @{step};
            epoll_event came{};
            int count = epoll_wait(events, &came, 1, wait);
            if (wait > 0)
                start = Clock::now();
            else if (count == 0)
                empty += seconds_since(start);
            if (count > 0) {
                take();
                if (@{drained} && epoll_wait(events, &came, 1, 0) > 0)
                    take();
            }
            if (Clock::now() >= due) {
                look_for_worst();
                due += Ms(@{due_ms});
            }
            busy += seconds_since(start);
        }
    }
};

int main()
{
    Maintenance room(@{port});
    room.@{fn}(@{seconds});
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", room.units, room.busy, room.empty);
    fclose(out);
}
