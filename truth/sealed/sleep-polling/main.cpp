// Prices quotes: connections put them on a queue, a pool of calculators works on them.
#include <arpa/inet.h>
#include <condition_variable>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <netinet/tcp.h>
#include <queue>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <unordered_map>

struct Desk {
    std::mutex mutex;
    std::condition_variable work, done;
    std::queue<std::pair<long, std::string>> open;
    std::unordered_map<long, double> prices;
    long last = 0;
};
static Desk desk;

static double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void calculator()
{
    for (;;) {
        std::unique_lock<std::mutex> hold(desk.mutex);
        desk.work.wait(hold, [] { return !desk.open.empty(); });
        auto [number, text] = desk.open.front();
        desk.open.pop();
        hold.unlock();
        double began = now_ms(), price = text.size();
        while (now_ms() - began < @{render})
            for (int i = 1; i < 500; i++)
                price += std::sqrt(price + i);
        hold.lock();
        desk.prices[number] = price;
        desk.done.notify_all();
    }
}

__attribute__((noinline)) static double @{fn}(long number)
{
    std::unique_lock<std::mutex> hold(desk.mutex);
    if (@{notify}) {
        desk.done.wait(hold, [&] { return desk.prices.count(number) > 0; });
    } else {
        while (!desk.prices.count(number)) {
            hold.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds((long)(@{tick} * 1000)));
            hold.lock();
        }
    }
    double price = desk.prices[number];
    desk.prices.erase(number);
    return price;
}

static void connection(int fd)
{
    char line[4096], answer[64];
    ssize_t n;
    while ((n = read(fd, line, sizeof line)) > 0) {
        long number;
        {
            std::lock_guard<std::mutex> hold(desk.mutex);
            number = ++desk.last;
            desk.open.push({number, std::string(line, n)});
        }
        desk.work.notify_one();
        int length = snprintf(answer, sizeof answer, "%.4f\n", @{fn}(number));
        if (write(fd, answer, length) < 0)
            break;
    }
    close(fd);
}

int main()
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (sockaddr *)&address, sizeof address) || listen(listener, 64))
        return perror("bind"), 1;
    for (int i = 0; i < 2; i++)
        std::thread(calculator).detach();
    if (@{notify} && @{tick} > 0)
        std::thread([] {
            for (;;) {
                std::this_thread::sleep_for(std::chrono::microseconds((long)(@{tick} * 1000)));
                std::lock_guard<std::mutex> hold(desk.mutex);
                if (desk.prices.size() > 100000)
                    desk.prices.clear();
            }
        }).detach();
    for (;;) {
        int fd = accept(listener, nullptr, nullptr);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(connection, fd).detach();
    }
}
