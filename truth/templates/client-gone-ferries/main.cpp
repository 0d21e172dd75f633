// Gives out the berths of ferries: wishes are gathered for a round, and then those who wish the same deck get berths side by side.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Wish {
    int ship, number, berth = -1;
};

class Rounds {
public:
    int ask(Wish &wish)
    {
        std::unique_lock<std::mutex> inside(lock);
        open.push_back(&wish);
        if (open.size() == 1)
            first.notify_one();
        closed.wait(inside, [&] { return wish.berth >= 0; });
        return wish.berth;
    }

    void work()
    {
        std::unique_lock<std::mutex> inside(lock);
        for (;;) {
            first.wait(inside, [&] { return !open.empty(); });
            inside.unlock();
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{hold}));
            inside.lock();
            std::sort(open.begin(), open.end(), [](Wish *a, Wish *b) { return a->number % 7 < b->number % 7; });
            for (Wish *wish : open)
                wish->berth = free[wish->ship] = (free[wish->ship] + 1) % @{berths};
            open.clear();
            closed.notify_all();
        }
    }

private:
    std::mutex lock;
    std::condition_variable first, closed;
    std::vector<Wish *> open;
    int free[@{ships}] = {};
};

static std::string field(const std::string &head, const std::string &name)
{
    size_t at = head.find(name + '\0');
    if (at == std::string::npos)
        return "";
    return head.c_str() + at + name.size() + 1;
}

static bool put(int fd, const std::string &text)
{
    for (size_t at = 0; at < text.size();) {
        ssize_t n = write(fd, text.data() + at, std::min<size_t>(text.size() - at, 16384));
        if (n < 0) {
            perror("front");
            return false;
        }
        at += n;
    }
    return true;
}

[[gnu::noinline]] static void @{fn}(int fd, const Wish &wish)
{
    std::string plan;
    for (int place = 0; plan.size() < @{bytes}; place = (place + 1) % @{berths})
        plan += "ship " + std::to_string(wish.ship) + " deck " + std::to_string(place % 5) + " berth " + std::to_string(place) + (place == wish.berth ? " *\n" : " .\n");
    plan.resize(@{bytes});
    if (put(fd, "Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(plan.size()) + "\r\n\r\n"))
        put(fd, plan);
}

static void serve(int fd, Rounds &rounds)
{
    std::string head;
    char part[4096];
    size_t want = 0;
    while (!want || head.size() < want) {
        ssize_t n = read(fd, part, sizeof part);
        if (n <= 0)
            break;
        head.append(part, n);
        size_t colon = head.find(':');
        if (colon != std::string::npos)
            want = colon + 2 + std::strtoul(head.c_str(), nullptr, 10);
    }
    Wish wish;
    if (want && head.size() >= want && sscanf(field(head, "REQUEST_URI").c_str(), "/berths/%d/%d", &wish.ship, &wish.number) == 2) {
        wish.ship %= @{ships};
        rounds.ask(wish);
        @{fn}(fd, wish);
    }
    close(fd);
}

int main()
{
    sockaddr_un at{};
    Rounds rounds;
    int gate = socket(AF_UNIX, SOCK_STREAM, 0);
    signal(SIGPIPE, SIG_IGN);
    at.sun_family = AF_UNIX;
    strncpy(at.sun_path, "@{work}/@{gate}", sizeof at.sun_path - 1);
    if (bind(gate, reinterpret_cast<sockaddr *>(&at), sizeof at) || listen(gate, 64)) {
        perror("@{gate}");
        return 3;
    }
    std::thread(&Rounds::work, &rounds).detach();
    for (;;) {
        int fd = accept(gate, nullptr, nullptr);
        if (fd >= 0)
            std::thread(serve, fd, std::ref(rounds)).detach();
    }
}
