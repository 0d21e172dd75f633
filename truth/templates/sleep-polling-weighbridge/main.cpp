// Weighs the lorries of a quarry, axle by axle; each bridge has a thread and a line to its scale.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

class Scale {
public:
    Scale()
    {
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(@{scales});
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int one = 1;
        line_ = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(line_, reinterpret_cast<sockaddr *>(&there), sizeof there))
            throw std::runtime_error("no scale: " + std::string(strerror(errno)));
        setsockopt(line_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(line_, F_SETFL, fcntl(line_, F_GETFL) | O_NONBLOCK);
    }
    Scale(const Scale &) = delete;
    ~Scale() { close(line_); }

    int weigh(long axle)
    {
        std::string question = "S " + std::to_string(axle) + "\r\n";
        if (send(line_, question.data(), question.size(), MSG_NOSIGNAL) < 0)
            throw std::runtime_error("the scale is gone");
        std::string answer = @{fnCamel}();
        if (answer.compare(0, 4, "S S "))
            throw std::runtime_error("the scale says " + answer);
        return std::atoi(answer.c_str() + 4);
    }

    double waited() const { return waited_; }

private:
    // What the scale says, to the end of the line.
    __attribute__((noinline)) std::string @{fnCamel}()
    {
        std::string text;
        char piece[64];
        while (text.find('\n') == std::string::npos) {
            ssize_t n = recv(line_, piece, sizeof piece, 0);
            if (n > 0) {
                text.append(piece, n);
                continue;
            }
            if (n == 0 || errno != EAGAIN)
                throw std::runtime_error("the scale is gone");
            auto start = Clock::now();
            if (std::string("@{wait}") == "look") {
                std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{pause}));
            } else {
                pollfd one{line_, POLLIN, 0};
                poll(&one, 1, 5000);
            }
            waited_ += Seconds(Clock::now() - start).count();
        }
        return text;
    }

    int line_;
    double waited_ = 0;
};

struct Bridge {
    Scale scale;
    std::atomic<long> units{0}, tons{0};
    double busy = 0;
    long cents = 0;

    void lorry(long number)
    {
        static const std::array<int, 4> goods{1190, 1450, 870, 2210};
        long load = -9800;
        for (int axle = 0; axle < @{axles}; axle++)
            load += scale.weigh(number * 5 + axle);
        long price = 0;
        for (int zone = 0; zone < @{tariffs}; zone++)
            price = std::max(price, load * goods[(number + zone) % 4] / 100000 - zone * 3);
        cents += price;
        tons += load / 1000;
        units++;
    }

    void run(Clock::time_point begun)
    {
        while (Seconds(Clock::now() - begun).count() < @{seconds}) {
            auto start = Clock::now();
            lorry(units);
            busy += Seconds(Clock::now() - start).count();
            std::this_thread::sleep_until(begun + std::chrono::duration_cast<Clock::duration>(Seconds(units / @{rate})));
        }
    }
};

int main()
{
    std::vector<std::unique_ptr<Bridge>> bridges;
    for (int i = 0; i < @{bridges}; i++)
        bridges.push_back(std::make_unique<Bridge>());
    std::mutex guard;
    std::condition_variable closed;
    bool closing = false;
    long shown = 0;
    std::thread board([&] {
        std::unique_lock<std::mutex> hold(guard);
        while (!closed.wait_for(hold, std::chrono::milliseconds(@{board}), [&] { return closing; }))
            for (auto &one : bridges)
                shown = std::max<long>(shown, one->tons);
    });
    auto begun = Clock::now();
    std::vector<std::thread> threads;
    for (auto &one : bridges)
        threads.emplace_back(&Bridge::run, one.get(), begun);
    for (auto &one : threads)
        one.join();
    {
        std::lock_guard<std::mutex> hold(guard);
        closing = true;
    }
    closed.notify_all();
    board.join();
    long units = 0;
    double busy = 0, waited = 0;
    for (auto &one : bridges) {
        units += one->units;
        busy += one->busy;
        waited += one->scale.waited();
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << waited << "}";
}
