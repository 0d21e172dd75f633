// Packs parcels: each gets the number of a waybill, with its check digits, and a barcode. The numbers come from the carrier in blocks.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Carrier {
    int line = socket(AF_INET, SOCK_STREAM, 0);

public:
    Carrier()
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(@{carrier});
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        timeval limit{8, 0};
        int yes = 1;
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        if (connect(line, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no carrier");
    }

    long block(int count)
    {
        std::string text = "BLOCK " + std::to_string(count) + "\n";
        char answer[64] = "";
        size_t have = 0;
        send(line, text.data(), text.size(), MSG_NOSIGNAL);
        while (!memchr(answer, '\n', have)) {
            ssize_t got = recv(line, answer + have, sizeof answer - 1 - have, 0);
            if (got <= 0)
                throw std::runtime_error("the carrier hung up");
            have += got;
        }
        return atol(answer + 5);
    }
};

class Roll {
    std::mutex @{lock};
    std::condition_variable wanted, there;
    Carrier carrier;
    long next = 0, end = 0, later = 0;
    bool closed = false;
    std::thread fetcher;

    // Has the block after this one in hand.
    void fetch()
    {
        std::unique_lock<std::mutex> held(@{lock});
        while (!closed) {
            if (later) {
                wanted.wait(held);
                continue;
            }
            held.unlock();
            long first = carrier.block(@{block});
            held.lock();
            later = first;
            there.notify_all();
        }
    }

public:
    Roll()
    {
        if (!@{ahead})
            return;
        next = carrier.block(@{block});
        end = next + @{block};
        fetcher = std::thread(&Roll::fetch, this);
    }

    ~Roll()
    {
        {
            std::lock_guard<std::mutex> held(@{lock});
            closed = true;
        }
        wanted.notify_all();
        if (fetcher.joinable())
            fetcher.join();
    }

    __attribute__((noinline)) long @{fn}()
    {
        std::unique_lock<std::mutex> held(@{lock});
        if (next == end) {
            if (@{ahead}) {
                there.wait(held, [this] { return later || next != end; });
                if (next == end) {
                    next = std::exchange(later, 0);
                    end = next + @{block};
                    wanted.notify_one();
                }
            } else {
                next = carrier.block(@{block});
                end = next + @{block};
            }
        }
        return next++;
    }
};

// The bars of a waybill's label, as letters.
static std::string label(long number)
{
    std::string bars;
    for (int round = 0; round < @{rounds}; round++) {
        unsigned long sum = number * 31 + round;
        for (char digit : std::to_string(number))
            sum = (sum ^ digit) * 1099511628211ul;
        for (int bar = 0; bar < 16; bar++)
            bars += "|:.!"[sum >> bar * 2 & 3];
    }
    return bars;
}

struct Account {
    long units = 0;
    double busy = 0, drawing = 0;
};

static void pack(Roll &roll, int packer, Clock::time_point begun, Account &account)
{
    std::ofstream labels("@{work}/labels-" + std::to_string(packer) + ".txt");
    while (since(begun) < @{seconds}) {
        auto start = Clock::now();
        long number = roll.@{fn}();
        account.drawing += since(start);
        labels << number << std::to_string(98 - number % 97) << " " << label(number) << "\n";
        account.units++;
        account.busy += since(start);
        std::this_thread::sleep_until(begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>((account.units + packer / 8.0) / @{pace})));
    }
}

int main()
{
    std::vector<Account> accounts(@{packers});
    {
        Roll roll;
        std::vector<std::thread> packers;
        auto begun = Clock::now();
        for (int packer = 0; packer < @{packers}; packer++)
            packers.emplace_back(pack, std::ref(roll), packer, begun, std::ref(accounts[packer]));
        for (auto &one : packers)
            one.join();
    }
    Account sum;
    for (auto &one : accounts) {
        sum.units += one.units;
        sum.busy += one.busy;
        sum.drawing += one.drawing;
    }
    std::ofstream("@{report}") << "{\"units\": " << sum.units << ", \"seconds\": " << sum.busy << ", \"culprit\": " << sum.drawing << "}";
}
