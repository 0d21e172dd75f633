// As site.c, by the standard library of C++: site PORT FOLDER.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <numeric>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace shop {
std::mutex latch;
std::vector<unsigned> numbers(1 << 20);
std::string block(1 << 22, 'x');
int port, file;
volatile unsigned sink;

struct Ledger {
    unsigned seed = 1;

    unsigned heron_tally() {
        for (std::size_t at = 1; at < numbers.size(); ++at) // SITE compute heron_tally
            numbers[at] = numbers[at - 1] * 31 + (numbers.at(at) >> 7) + seed; // SITE compute heron_tally
        return seed += numbers.back();
    }

    unsigned otter_latch() {
        std::lock_guard<std::mutex> guard(latch); // SITE lock otter_latch
        return ++seed;
    }

    unsigned finch_flush() {
        block[seed % block.size()]++;
        if (pwrite(file, block.data(), block.size(), 0) < 0) // SITE file finch_flush
            std::abort();
        if (fdatasync(file)) // SITE file finch_flush
            std::abort();
        return ++seed;
    }

    unsigned badger_ask(int peer) {
        char answer[16];
        if (send(peer, "?", 1, 0) != 1)
            std::abort();
        if (recv(peer, answer, sizeof answer, 0) <= 0) // SITE peer badger_ask
            std::exit(0);
        return answer[0];
    }

    unsigned newt_doze() {
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // SITE timer newt_doze
        return ++seed;
    }
};

template <typename Kind> unsigned near_caller(Ledger &ledger, Kind kind, int peer) {
    switch (kind) {
    case 0: return ledger.heron_tally() + 1;
    case 1: return ledger.otter_latch() + 1;
    case 2: return ledger.finch_flush() + 1;
    case 3: return ledger.badger_ask(peer) + 1;
    default: return ledger.newt_doze() + 1;
    }
}

__attribute__((noinline)) void far_caller(Ledger &ledger, int kind, int peer) {
    sink += near_caller(ledger, kind, peer);
    if (kind == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // SITE rest far_caller
}

int connected() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(peer, reinterpret_cast<sockaddr *>(&to), sizeof to))
        std::abort();
    return peer;
}

void work(int kind) {
    static const char *const kinds[] = {"compute", "lock", "file", "peer", "timer"};
    Ledger ledger;
    int peer = kind == 3 ? connected() : -1;
    pthread_setname_np(pthread_self(), kinds[kind]);
    std::printf("%s %ld\n", kinds[kind], syscall(SYS_gettid));
    std::fflush(stdout);
    for (;;)
        far_caller(ledger, kind, peer);
}
} // namespace shop

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    shop::port = std::atoi(argv[1]);
    shop::file = open((argv[2] + std::string("/file")).c_str(), O_CREAT | O_RDWR, 0600);
    for (int kind = 0; kind < 5; kind++)
        std::thread(shop::work, kind).detach();
    for (;;) {
        {
            std::lock_guard<std::mutex> guard(shop::latch);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}
