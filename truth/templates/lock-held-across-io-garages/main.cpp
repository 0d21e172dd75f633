// The gate controller of a chain of car parks: season tickets, and what those without one pay.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

class Wire {
public:
    explicit Wire(int socket) : socket_(socket)
    {
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~Wire() { close(socket_); }

    bool line(std::string &text)
    {
        size_t end;
        while ((end = rest_.find('\n')) == std::string::npos) {
            char piece[4096];
            ssize_t got = recv(socket_, piece, sizeof piece, 0);
            if (got <= 0)
                return false;
            rest_.append(piece, got);
        }
        text = rest_.substr(0, end);
        rest_.erase(0, end + 1);
        return true;
    }
    bool say(const std::string &text) { return send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == (ssize_t)text.size(); }

private:
    int socket_;
    std::string rest_;
};

sockaddr_in at(int port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    return address;
}

using Changes = std::vector<std::pair<int, int>>;

class Seasons {
public:
    Seasons()
    {
        for (int ticket = 0; ticket < @{tickets}; ticket += 3)
            days_[ticket] = 30;
    }

    int days(int ticket)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        entries_++;
        auto found = days_.find(ticket);
        return found == days_.end() ? 0 : found->second;
    }

    __attribute__((noinline)) bool @{fn}(Wire &office)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        long since = version_;
        if (!@{locked})
            guard.unlock();
        Changes changes;
        if (!ask(office, since, changes))
            return false;
        if (!guard.owns_lock())
            guard.lock();
        for (auto &[ticket, days] : changes)
            days_[ticket] = days;
        version_++;
        return true;
    }

private:
    static bool ask(Wire &office, long since, Changes &changes)
    {
        std::string answer;
        if (!office.say("CHANGES " + std::to_string(since) + "\n") || !office.line(answer))
            return false;
        std::istringstream words(answer);
        int ticket, days;
        char equals;
        while (words >> ticket >> equals >> days)
            changes.emplace_back(ticket, days);
        return true;
    }

    std::mutex mutex_;
    std::unordered_map<int, int> days_;
    long version_ = 0, entries_ = 0;
};

uint32_t plate(uint32_t car)
{
    uint32_t code = car * 2654435761u | 1;
    for (int i = 0; i < @{rounds} * 4; i++) {
        code ^= code << 13;
        code ^= code >> 17;
        code ^= code << 5;
    }
    return code;
}

void gate(int socket, Seasons &seasons)
{
    Wire wire(socket);
    std::string line;
    while (wire.line(line)) {
        int car = std::atoi(line.c_str() + line.rfind(' ') + 1);
        uint32_t code = plate(car);
        int days = seasons.days(car % @{tickets});
        char text[80];
        if (days)
            snprintf(text, sizeof text, "open %08x season %d\n", code, days);
        else
            snprintf(text, sizeof text, "open %08x pay %u\n", code, 150 + code % 700);
        wire.say(text);
    }
}

void keep_current(Seasons &seasons)
{
    int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = at(@{office});
    if (connect(socket, (sockaddr *)&address, sizeof address))
        return perror("head office");
    Wire office(socket);
    while (seasons.@{fn}(office))
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{every}));
}

}

int main()
{
    static Seasons seasons;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address = at(@{port});
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (sockaddr *)&address, sizeof address) || listen(listener, 64))
        return perror("gates"), 1;
    std::thread(keep_current, std::ref(seasons)).detach();
    for (;;) {
        int socket = accept(listener, nullptr, nullptr);
        if (socket >= 0)
            std::thread(gate, socket, std::ref(seasons)).detach();
    }
}
