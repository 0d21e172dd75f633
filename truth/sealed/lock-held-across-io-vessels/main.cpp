// Plans the berths of a port: a ship is given the one that fits it best.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static const std::string stale = "@{stale}";

struct Ship {
    int number = 0, length = 0, beam = 0, draught = 0;
};

struct Entry {
    Ship ship;
    Clock::time_point until;
    bool ordered = false;
};

static sockaddr_in loopback(int port)
{
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return there;
}

// A connection by which lines go.
class Line {
public:
    explicit Line(int fd) : fd_(fd)
    {
        int one = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    Line(const Line &) = delete;
    ~Line() { close(fd_); }

    bool say(const std::string &text) { return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()); }

    bool hear(std::string &line)
    {
        size_t end;
        while ((end = rest_.find('\n')) == std::string::npos) {
            char piece[4096];
            ssize_t n = recv(fd_, piece, sizeof piece, 0);
            if (n <= 0)
                return false;
            rest_.append(piece, n);
        }
        line = rest_.substr(0, end);
        rest_.erase(0, end + 1);
        return true;
    }

private:
    int fd_;
    std::string rest_;
};

// The register of ships; one question at a time.
class Register {
public:
    Register() : line_(connected()) {}

    Ship ship(int number)
    {
        line_.say("ship " + std::to_string(number) + "\n");
        return read();
    }

    std::vector<Ship> fleet(int count)
    {
        line_.say("fleet " + std::to_string(count) + "\n");
        std::vector<Ship> all;
        while (static_cast<int>(all.size()) < count)
            all.push_back(read());
        return all;
    }

private:
    static int connected()
    {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in there = loopback(@{register});
        if (connect(fd, reinterpret_cast<sockaddr *>(&there), sizeof there))
            throw std::runtime_error("there is no register");
        return fd;
    }

    Ship read()
    {
        std::string text;
        Ship ship;
        if (!line_.hear(text) || std::sscanf(text.c_str(), "%d %d %d %d", &ship.number, &ship.length, &ship.beam, &ship.draught) != 4)
            throw std::runtime_error("the register is gone");
        return ship;
    }

    Line line_;
};

class Ships {
public:
    Ships()
    {
        int place = 0;
        for (const Ship &one : register_.fleet(@{ships}))
            known_[one.number] = {one, lasting(place++ * 7919L % @{ships} / static_cast<double>(@{ships}))};
        if (stale == "use")
            std::thread(&Ships::refresh, this).detach();
    }

    // What is known of a ship.
    __attribute__((noinline)) Ship @{fn}(int number)
    {
        std::lock_guard<std::mutex> hold(@{lock});
        Entry &one = known_[number];
        if (Clock::now() < one.until || one.ordered)
            return one.ship;
        if (stale == "use") {
            one.ordered = true;
            orders_.push_back(number);
            came_.notify_one();
        } else {
            one.ship = register_.ship(number);
            one.until = lasting(1);
        }
        return one.ship;
    }

private:
    static Clock::time_point lasting(double part)
    {
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(part * @{age}));
    }

    void refresh()
    {
        std::unique_lock<std::mutex> hold(@{lock});
        for (;;) {
            came_.wait(hold, [this] { return !orders_.empty(); });
            int number = orders_.front();
            orders_.pop_front();
            hold.unlock();
            Ship fresh = register_.ship(number);
            hold.lock();
            known_[number] = {fresh, lasting(1)};
        }
    }

    std::mutex @{lock};
    std::condition_variable came_;
    std::unordered_map<int, Entry> known_;
    std::deque<int> orders_;
    Register register_;
};

static int berth(const Ship &ship)
{
    int best = -1, room = 1 << 30;
    for (int i = 0; i < @{berths}; i++) {
        int length = 3000 + i * 613 % 30000, depth = 300 + i * 97 % 1300;
        if (length >= ship.length + ship.beam / 2 && depth >= ship.draught + 50 && length < room) {
            best = i;
            room = length;
        }
    }
    return best;
}

static void talk(int fd, Ships &ships)
{
    Line pilot(fd);
    std::string line;
    while (pilot.hear(line)) {
        Ship one = ships.@{fn}(std::atol(line.c_str() + 5) * 31 % @{ships});
        if (!pilot.say("ship " + std::to_string(one.number) + ": " + std::to_string(one.length) + " x " + std::to_string(one.beam) + " cm, berth " + std::to_string(berth(one)) + "\n"))
            return;
    }
}

int main()
{
    static Ships ships;
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    sockaddr_in here = loopback(@{port});
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) || listen(door, 64))
        return 1;
    for (;;) {
        int pilot = accept(door, nullptr, nullptr);
        if (pilot >= 0)
            std::thread(talk, pilot, std::ref(ships)).detach();
    }
}
