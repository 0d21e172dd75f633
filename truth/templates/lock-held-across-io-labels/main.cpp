// The stock of a depot. Pickers take articles; a label goes to each parcel that is full, by way of the printer's driver, a process of its own.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// The printer's driver: a line in, and a line out when the label is there.
static void driver(int in, int out)
{
    char line[128];
    ssize_t n;
    while ((n = read(in, line, sizeof line)) > 0) {
        std::this_thread::sleep_for(Milliseconds(@{delay}));
        if (write(out, "printed\n", 8) < 0)
            break;
    }
    _exit(0);
}

class Depot {
public:
    Depot(int to, int from) : to_(to), from_(from)
    {
        for (int i = 0; i < @{articles}; i++)
            pieces_["A" + std::to_string(i)] = 1000;
    }

    __attribute__((noinline)) long @{reader}(const std::string &article)
    {
        std::lock_guard<std::mutex> guard(@{lock}_);
        long left = --pieces_[article];
        if (left < 10)
            pieces_[article] = 1000;
        return left;
    }

    __attribute__((noinline)) void @{fn}(int parcel)
    {
        std::unique_lock<std::mutex> guard(@{lock}_);
        std::string text = "parcel " + std::to_string(parcel) + " of " + std::to_string(pieces_.size()) + "\n";
        if (!@{inside})
            guard.unlock();
        char answer[32];
        if (write(to_, text.data(), text.size()) < 0 || read(from_, answer, sizeof answer) <= 0)
            exit(1);
        if (!@{inside})
            guard.lock();
        printed_++;
    }

private:
    std::mutex @{lock}_;
    std::map<std::string, long> pieces_;
    long printed_ = 0;
    int to_, from_;
};

static void serve(Depot &depot, int client)
{
    char line[128];
    ssize_t n;
    while ((n = read(client, line, sizeof line - 1)) > 0) {
        line[n] = 0;
        const char *number = strchr(line, ' ');
        long left = depot.@{reader}("A" + std::to_string((number ? atol(number) : 0) % @{articles}));
        char answer[64];
        unsigned check = 0;
        for (auto start = Clock::now(); Clock::now() - start < Milliseconds(@{effort});)
            check = check * 31 + static_cast<unsigned>(snprintf(answer, sizeof answer, "left %ld %u\n", left, check & 7));
        if (write(client, answer, strlen(answer)) < 0)
            break;
    }
    close(client);
}

int main()
{
    int to[2], from[2], on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (pipe(to) || pipe(from) || bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address))
        return perror("start"), 1;
    if (!fork()) {
        close(to[1]);
        close(from[0]);
        driver(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    Depot depot(to[1], from[0]);
    std::thread([&depot] {
        for (int parcel = 0;; parcel++) {
            depot.@{fn}(parcel);
            std::this_thread::sleep_for(Milliseconds(@{every}));
        }
    }).detach();
    listen(listener, 64);
    for (;;) {
        int client = accept(listener, nullptr, nullptr);
        if (client < 0)
            continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, std::ref(depot), client).detach();
    }
}
