// The tote of a racecourse. A window sends `bet N`, and gets the ticket and the odds of the horse. The stewards see what the house would owe, time after time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Ticket {
    uint32_t number;
    uint16_t race, horse;
    uint32_t stake;
    uint64_t at, proof;
};

struct Race {
    int horses;
    double cut;
};

using Card = std::map<int, Race>;
using Pools = std::map<std::pair<int, int>, double>;

static Card read_card(const char *path) {
    Card card;
    std::ifstream in(path);
    std::string word;
    for (int race; in >> word >> race;) {
        Race one;
        in >> word >> one.horses >> word >> one.cut;
        card[race] = one;
    }
    return card;
}

static uint64_t mixed(uint64_t value) {
    for (int i = 0; i < 40; i++) {
        value ^= value >> 31;
        value *= 0x9e3779b97f4a7c15u;
    }
    return value;
}

using Places = std::map<int, std::vector<double>>;

// The chance of a horse to come in first, second or third, by what is in the pools (Harville).
static double placed(const std::vector<double> &pools, double total, size_t horse) {
    double own = pools[horse] / total, chance = own;
    for (size_t first = 0; first < pools.size(); first++) {
        if (first == horse)
            continue;
        double won = pools[first] / total;
        chance += won * own / (1 - won);
        for (size_t second = 0; second < pools.size(); second++) {
            if (second == horse || second == first)
                continue;
            double next = pools[second] / total;
            chance += won * next / (1 - won) * own / (1 - won - next);
        }
    }
    return chance;
}

static std::map<int, double> reckon(const std::vector<Ticket> &tickets, const Pools &pools) {
    Places races;
    std::map<int, double> totals, owed;
    for (const auto &[runner, pool] : pools) {
        races[runner.first].push_back(pool);
        totals[runner.first] += pool;
    }
    for (const Ticket &one : tickets) {
        const std::vector<double> &race = races[one.race];
        owed[one.race] += one.stake * totals[one.race] / race[one.horse] / 3 * placed(race, totals[one.race], one.horse);
    }
    return owed;
}

// All tickets, the newest over the oldest, and what is in the pools.
class Book {
public:
    explicit Book(const Card &card) : card(card), tickets(@{kilo} * 4000) {
        for (const auto &[race, one] : card)
            for (int horse = 0; horse < one.horses; horse++) {
                pools[{race, horse}] = 100;
                totals[race] += 100;
            }
        for (size_t number = 0; number < tickets.size(); number++)
            enter(number);
    }

    std::string enter(long number) {
        int race = number % card.size() + 1;
        const Race &one = card.at(race);
        int horse = number * 31 % one.horses, stake = 2 + number * 17 % 49;
        uint64_t proof = mixed(number * 1000 + race * 40 + horse);
        uint64_t at = std::chrono::system_clock::now().time_since_epoch().count();
        double odds;
        {
            std::lock_guard<std::mutex> guard(lock);
            tickets[count++ % tickets.size()] = {uint32_t(number), uint16_t(race), uint16_t(horse), uint32_t(stake), at, proof};
            pools[{race, horse}] += stake;
            totals[race] += stake;
            odds = totals[race] * (1 - one.cut) / pools[{race, horse}];
        }
        char text[128];
        snprintf(text, sizeof text, "ticket %016llx race %d horse %d odds %.2f\n", static_cast<unsigned long long>(proof), race, horse, odds);
        return text;
    }

    __attribute__((noinline)) std::map<int, double> @{fn}() {
        std::unique_lock<std::mutex> guard(lock);
        Pools seen = pools;
        if (std::strcmp("@{inside}", "yes") == 0)
            return reckon(tickets, seen);
        std::vector<Ticket> copy = tickets;
        guard.unlock();
        return reckon(copy, seen);
    }

private:
    Card card;
    std::mutex lock;
    std::vector<Ticket> tickets;
    Pools pools;
    std::map<int, double> totals;
    size_t count = 0;
};

static void stewards(Book &book) {
    pthread_setname_np(pthread_self(), "stewards");
    std::map<int, double> most;
    for (;;) {
        for (const auto &[race, owed] : book.@{fn}())
            if (owed > most[race])
                most[race] = owed;
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{gap}));
    }
}

static void window(Book &book, int line) {
    FILE *in = fdopen(line, "r");
    char asked[256];
    while (fgets(asked, sizeof asked, in)) {
        std::string text = book.enter(atol(asked + 4));
        if (write(line, text.data(), text.size()) < 0)
            break;
    }
    fclose(in);
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    Book book(read_card("@{work}/card.txt"));
    std::thread(stewards, std::ref(book)).detach();
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(door, 64) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int line = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
        if (line < 0)
            continue;
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(window, std::ref(book), line).detach();
    }
}
