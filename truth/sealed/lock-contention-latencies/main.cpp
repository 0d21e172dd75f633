// Collects the latencies that probes measure, and computes their percentiles time and again.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

class Series {
public:
    Series() : values_(@{samples})
    {
        uint64_t random = 88172645463325252ULL;
        for (double &value : values_) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            value = static_cast<double>(random % 100000) / 100;
        }
    }

    __attribute__((noinline)) size_t add(double value)
    {
        std::lock_guard<std::mutex> guard(@{lock}_);
        values_[next_] = value;
        next_ = (next_ + 1) % values_.size();
        return next_;
    }

    __attribute__((noinline)) double @{fn}()
    {
        std::unique_lock<std::mutex> guard(@{lock}_);
        std::vector<double> &sorted = sorted_;
        sorted = values_;
        if (!@{inside})
            guard.unlock();
        std::sort(sorted.begin(), sorted.end());
        double sum = 0;
        for (size_t percent = 1; percent < 100; percent++)
            sum += sorted[sorted.size() * percent / 100];
        return sum;
    }

private:
    std::mutex @{lock}_;
    std::vector<double> values_, sorted_;
    size_t next_ = 0;
};

static std::atomic<double> statistics;

static void serve(Series &series, int probe)
{
    char line[128];
    ssize_t n;
    while ((n = recv(probe, line, sizeof line - 1, 0)) > 0) {
        line[n] = 0;
        const char *number = strchr(line, ' ');
        size_t at = series.add(number ? atof(number) : 0);
        n = snprintf(line, sizeof line, "taken %zu %.2f\n", at, statistics.load());
        if (send(probe, line, n, MSG_NOSIGNAL) < 0)
            break;
    }
    close(probe);
}

int main()
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    static Series series;
    std::thread([] {
        for (;;) {
            statistics = series.@{fn}();
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{every}));
        }
    }).detach();
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 64))
        return perror("listen"), 1;
    for (;;) {
        int probe = accept(listener, nullptr, nullptr);
        if (probe < 0)
            continue;
        setsockopt(probe, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, std::ref(series), probe).detach();
    }
}
