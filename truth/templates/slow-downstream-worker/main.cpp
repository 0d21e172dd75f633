#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

// A reader hands parcels to a thread that asks the carrier for their place.
using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

class Carrier {
public:
    Carrier() {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(@{back});
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof to)) _exit(3);
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    std::string ask(const std::string &text) {
        if (write(fd, text.data(), text.size()) < 0) _exit(4);
        std::string got;
        char part[16384];
        do {
            pollfd wait{fd, POLLIN, 0};
            poll(&wait, 1, -1);
            ssize_t n = read(fd, part, sizeof part);
            if (n <= 0) _exit(5);
            got.append(part, n);
        } while (got.back() != '\n');
        return got;
    }
private:
    int fd;
};

static std::mutex m;
static std::condition_variable todo, done;
static std::deque<long> parcels;
static long finished = 0;
static double spent = 0;
static unsigned long long sum = 0;

__attribute__((noinline)) static void @{fn}() {
    Carrier carrier;
    for (;;) {
        std::unique_lock<std::mutex> lock(m);
        todo.wait(lock, [] { return !parcels.empty(); });
        long id = parcels.front();
        parcels.pop_front();
        lock.unlock();
        auto t = Clock::now();
        std::string place = carrier.ask("where " + std::to_string(id) + "\n");
        double took = since(t);
        for (int r = 0; r < @{rounds} * 20; r++) sum = sum * 31 + place[r % place.size()];
        lock.lock();
        spent += took;
        finished++;
        done.notify_one();
    }
}

int main() {
    if (@{hold}) std::thread([] { Carrier news; for (;;) news.ask("watch\n"); }).detach();
    std::thread(@{fn}).detach();
    auto began = Clock::now();
    double busy = 0;
    long units = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        std::unique_lock<std::mutex> lock(m);
        parcels.push_back(units++);
        todo.notify_one();
        done.wait(lock, [&] { return finished == units; });
        lock.unlock();
        busy += since(start);
        double rest = units / @{rate} - since(began);
        if (rest > 0) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << "}";
    _exit(0);
}
