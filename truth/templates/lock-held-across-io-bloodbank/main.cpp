// The desk of a blood bank: which unit a ward gets, and where it lies.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

const char *const kGroups[] = {"O-", "O+", "A-", "A+", "B-", "B+", "AB-", "AB+"};

struct Shelf {
    int units = 0, oldest = 0;
};

sockaddr_in at(int port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

class Line {
    int fd;
    std::string held;

public:
    explicit Line(int open) : fd(open)
    {
        int yes = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    Line(const Line &) = delete;
    ~Line() { close(fd); }

    void say(const std::string &text) { send(fd, text.data(), text.size(), MSG_NOSIGNAL); }

    bool hear(std::string &line)
    {
        size_t end;
        while ((end = held.find('\n')) == std::string::npos) {
            char piece[1024];
            ssize_t got = recv(fd, piece, sizeof piece, 0);
            if (got <= 0)
                return false;
            held.append(piece, got);
        }
        line = held.substr(0, end);
        held.erase(0, end + 1);
        return true;
    }
};

int dial(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = at(port);
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address))
        throw std::runtime_error("nobody is in the laboratory");
    return fd;
}

class Laboratory {
    Line line{dial(@{lab})};

public:
    Shelf released(const std::string &group)
    {
        std::string text;
        Shelf shelf;
        line.say("group " + group + "\n");
        if (!line.hear(text) || sscanf(text.c_str(), "%*s %d %d", &shelf.units, &shelf.oldest) != 2)
            throw std::runtime_error("the laboratory says: " + text);
        return shelf;
    }
};

class Stock {
    std::mutex door;
    std::map<std::string, Shelf> shelves;
    Laboratory laboratory;
    long given = 0;

public:
    __attribute__((noinline)) void @{fn}()
    {
        std::unique_lock<std::mutex> inside(door, std::defer_lock);
        if (std::string("@{order}") == "first")
            inside.lock();
        std::map<std::string, Shelf> fresh;
        for (const char *group : kGroups)
            fresh[group] = laboratory.released(group);
        if (!inside.owns_lock())
            inside.lock();
        shelves.swap(fresh);
    }

    // Of the groups that suit, the one of which there is most.
    std::string take(int patient, int units, long &number)
    {
        std::lock_guard<std::mutex> inside(door);
        const std::string wanted = kGroups[patient];
        bool rhesus = wanted.back() == '+';
        Shelf *best = nullptr;
        std::string name = "none";
        for (auto &[group, shelf] : shelves) {
            bool fits = (rhesus || group.back() == '-') && (group[0] == 'O' || wanted.find(group.substr(0, group.size() - 1)) != std::string::npos);
            if (fits && shelf.units >= units && (!best || shelf.units > best->units)) {
                best = &shelf;
                name = group;
            }
        }
        if (best)
            best->units -= units;
        number = given += units;
        return name;
    }
};

// The number on the bag, with its check digits.
std::string label(const std::string &group, long number)
{
    unsigned long sum = number;
    for (int rack = 0; rack < @{racks}; rack++) {
        std::string text = group + "/" + std::to_string(rack) + "/" + std::to_string(number);
        sum = sum * 31 + std::hash<std::string>()(text);
    }
    char code[40];
    snprintf(code, sizeof code, "%ld-%012lx", number % @{racks}, sum & 0xffffffffffff);
    return code;
}

void serve(int fd, Stock &stock)
{
    Line ward(fd);
    for (std::string line; ward.hear(line);) {
        int number = 0;
        if (sscanf(line.c_str(), "need %d", &number) != 1) {
            ward.say("what?\n");
            continue;
        }
        long given = 0;
        std::string group = stock.take(number % 8, 1 + number % 3, given);
        ward.say("give " + group + " rack " + label(group, number) + ", " + std::to_string(given) + " in all\n");
    }
}

} // namespace

int main()
{
    signal(SIGPIPE, SIG_IGN);
    Stock stock;
    stock.@{fn}();
    std::thread([&stock] {
        for (long rounds = 1;; rounds++) {
            stock.@{fn}();
            if (rounds % 100 == 0)
                fprintf(stderr, "%ld rounds with the laboratory\n", rounds);
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{pause}));
        }
    }).detach();
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = at(@{port});
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64)) {
        perror("desk");
        return 1;
    }
    for (;;) {
        int fd = accept(door, nullptr, nullptr);
        if (fd >= 0)
            std::thread(serve, fd, std::ref(stock)).detach();
    }
}
