// A relay: entries of the journal go to a table, and timers say when a part of it is to be written.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Loop {
    int poller = epoll_create1(0);
    std::multimap<Clock::time_point, std::function<void()>> timers;
    std::function<void()> input;
    double busy = 0, culprit = 0;

    // How long to wait, in milliseconds.
    int wait() const
    {
        if (timers.empty())
            return 1000;
        auto left = timers.begin()->first - Clock::now();
        if (@{patience})
            return std::max<long>(1, std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1);
        return std::max<long>(0, std::chrono::duration_cast<std::chrono::seconds>(left).count()) * 1000;
    }

    __attribute__((noinline)) void @{fn}()
    {
        auto start = Clock::now();
        epoll_event event;
        int patience = wait();
        int n = epoll_wait(poller, &event, 1, patience);
        if (!patience) {
            culprit += Seconds(Clock::now() - start).count();
            busy += Seconds(Clock::now() - start).count();
        }
        if (n > 0)
            input();
        if (n > 0 && @{patience} == 2 && epoll_wait(poller, &event, 1, 0) > 0)
            input();
        while (!timers.empty() && timers.begin()->first <= Clock::now()) {
            auto action = std::move(timers.begin()->second);
            timers.erase(timers.begin());
            action();
        }
    }
};

int main()
{
    Loop loop;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (sockaddr *)&address, sizeof address))
        return perror("connect"), 1;
    epoll_event wanted = {};
    wanted.events = EPOLLIN;
    epoll_ctl(loop.poller, EPOLL_CTL_ADD, fd, &wanted);
    long units = 0;
    size_t written = 0;
    std::string table;
    loop.input = [&] {
        char text[2048];
        ssize_t n = read(fd, text, sizeof text);
        auto start = Clock::now();
        size_t sum = 0;
        while (Seconds(Clock::now() - start).count() < @{effort} / 1000.0)
            sum += std::hash<std::string>()(std::string(text, n > 0 ? n : 0));
        table += std::to_string(sum);
        units++;
        loop.busy += Seconds(Clock::now() - start).count();
    };
    std::function<void()> flush = [&] {
        written += table.size();
        table.clear();
        loop.timers.emplace(Clock::now() + std::chrono::milliseconds(@{flush}), flush);
    };
    flush();
    auto began = Clock::now();
    while (Seconds(Clock::now() - began).count() < @{seconds})
        loop.@{fn}();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, loop.busy, loop.culprit);
    return fclose(out);
}
