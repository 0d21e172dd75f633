// Keeps the sessions of a shop: a thread for each connection, one that sweeps, one that writes the journal.
#include <arpa/inet.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Session {
    std::string basket;
    unsigned long seen = 0, worth = 0;
};

struct Part {
    std::mutex @{lock};
    std::unordered_map<long, Session> entries;
};

static std::vector<Part> parts(@{parts});
static std::mutex journal_mutex;
static std::condition_variable journal_came;
static std::deque<std::string> journal;
static volatile unsigned long expired;

static Part &part_of(long number) { return parts[number % parts.size()]; }

static std::string visit(long number)
{
    Part &part = part_of(number % @{entries});
    std::string basket;
    {
        std::lock_guard<std::mutex> hold(part.@{lock});
        Session &session = part.entries[number % @{entries}];
        session.seen++;
        basket = session.basket;
    }
    auto start = Clock::now();
    std::string page;
    while (since(start) < @{effort} / 1000.0)
        page = "<li>" + basket + std::to_string(page.size()) + page.substr(0, 200);
    {
        std::lock_guard<std::mutex> hold(journal_mutex);
        journal.push_back(std::to_string(number));
    }
    journal_came.notify_one();
    return "page " + std::to_string(page.size()) + "\n";
}

static void serve(int fd)
{
    std::string in;
    char some[4096];
    ssize_t got;
    while ((got = read(fd, some, sizeof some)) > 0) {
        in.append(some, got);
        for (size_t end; (end = in.find('\n')) != std::string::npos; in.erase(0, end + 1)) {
            std::string answer = visit(atol(in.c_str() + in.find(' ')));
            if (send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0)
                break;
        }
    }
    close(fd);
}

/* What is worth keeping depends on the basket and on when it was last seen. */
static __attribute__((noinline)) void @{fn}(Part &part, unsigned long round)
{
    std::lock_guard<std::mutex> hold(part.@{lock});
    unsigned long cold = 0;
    for (auto &[number, session] : part.entries) {
        session.worth = round - session.seen;
        for (char letter : session.basket)
            session.worth = session.worth * 31 + letter;
        if (session.worth % 1009 == 0)
            cold++;
    }
    expired = expired + cold;
}

static void sweeper()
{
    pthread_setname_np(pthread_self(), "sweeper");
    for (unsigned long round = 1;; round++) {
        auto start = Clock::now();
        for (Part &part : parts)
            @{fn}(part, round);
        double pause = std::max(since(start) * @{rest}, (double)@{least});
        std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    }
}

static void writer()
{
    pthread_setname_np(pthread_self(), "journal");
    for (std::string last;;) {
        std::unique_lock<std::mutex> hold(journal_mutex);
        journal_came.wait(hold, [] { return !journal.empty(); });
        last = journal.front();
        journal.pop_front();
    }
}

int main()
{
    for (long number = 0; number < @{entries}; number++)
        for (long line = 0; line < 3; line++)
            part_of(number).entries[number].basket += "article " + std::to_string((number + line) * 7919 % 100003) + " twice, in blue; ";
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (sockaddr *)&here, sizeof here) || listen(door, 100)) {
        perror("@{port}");
        return 1;
    }
    std::thread(sweeper).detach();
    std::thread(writer).detach();
    for (;;) {
        int fd = accept(door, nullptr, nullptr);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        std::thread(serve, fd).detach();
    }
}
