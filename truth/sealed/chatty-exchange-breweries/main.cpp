// The cellar book of a brewery: writes down, tank by tank, what the controllers say, and how far the beer has fermented.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <future>
#include <mutex>
#include <netinet/tcp.h>
#include <numeric>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Visits {
    long units = 0;
    Seconds busy{0}, asking{0};
};

class Modbus {
public:
    explicit Modbus(uint16_t port) : line(socket(AF_INET, SOCK_STREAM, 0))
    {
        int on = 1;
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(line, reinterpret_cast<sockaddr *>(&at), sizeof at))
            throw std::runtime_error("gateway");
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    Modbus(const Modbus &) = delete;

    ~Modbus()
    {
        close(line);
    }

    void registers(uint8_t tank, uint16_t first, uint16_t count, std::vector<uint16_t> &into)
    {
        turn++;
        const uint8_t ask[] = {high(turn), low(turn), 0, 0, 0, 6, tank, 3, high(first), low(first), high(count), low(count)};
        if (send(line, ask, sizeof ask, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof ask))
            throw std::runtime_error("gateway: send");
        uint8_t answer[9 + 250];
        fill(answer, 9 + 2 * count);
        if (answer[0] != high(turn) || answer[1] != low(turn) || answer[7] != 3)
            throw std::runtime_error("gateway: answer");
        for (int i = 0; i < count; i++)
            into.push_back(static_cast<uint16_t>(answer[9 + 2 * i] << 8 | answer[10 + 2 * i]));
    }

private:
    static uint8_t high(uint16_t word) { return static_cast<uint8_t>(word >> 8); }
    static uint8_t low(uint16_t word) { return static_cast<uint8_t>(word); }

    void fill(uint8_t *to, size_t length)
    {
        for (size_t have = 0; have < length;) {
            ssize_t got = recv(line, to + have, length - have, 0);
            if (got <= 0 || (have + got >= 9 && to[7] != 3))
                throw std::runtime_error("gateway: receive");
            have += static_cast<size_t>(got);
        }
    }

    int line;
    uint16_t turn = 0;
};

class Book {
public:
    void enter(int cellar, int tank, double sugar, const std::vector<uint16_t> &points)
    {
        std::lock_guard<std::mutex> hold(guard);
        file << cellar << ';' << tank << ';' << sugar;
        for (uint16_t point : points)
            file << ',' << point;
        file << '\n';
    }

private:
    std::mutex guard;
    std::ofstream file{"@{work}/cellar.csv"};
};

class Cellar {
public:
    Cellar(int number, Book &book) : number(number), book(book), modbus(@{gateway}) {}

    Visits keep()
    {
        const auto begun = Clock::now();
        const auto pace = std::chrono::duration_cast<Clock::duration>(Seconds(1 / double(@{rate})));
        auto due = begun + std::chrono::milliseconds(30 * number);
        while (Clock::now() - begun < Seconds(@{seconds})) {
            std::this_thread::sleep_until(due);
            visit(static_cast<uint8_t>(1 + visits.units % 12));
            due = std::max(due + pace, Clock::now() - std::chrono::seconds(1));
        }
        return visits;
    }

private:
    __attribute__((noinline)) std::vector<uint16_t> @{fn}(uint8_t tank)
    {
        constexpr size_t all = @{points}, span = @{span};
        std::vector<uint16_t> points;
        points.reserve(all);
        while (points.size() < all)
            modbus.registers(tank, static_cast<uint16_t>(400 + points.size()), static_cast<uint16_t>(std::min(span, all - points.size())), points);
        return points;
    }

    static double fermented(const std::vector<uint16_t> &points)
    {
        const double level = std::accumulate(points.begin(), points.end(), 0.0) / static_cast<double>(points.size());
        double sugar = 12;
        for (int hour = 0; hour < @{rounds} * 200; hour++)
            sugar -= sugar * std::exp(-level / 9000 - hour % 24 / 31.0) / 4500;
        return sugar;
    }

    void visit(uint8_t tank)
    {
        const auto start = Clock::now();
        const auto points = @{fn}(tank);
        visits.asking += Clock::now() - start;
        book.enter(number, tank, fermented(points), points);
        visits.units++;
        visits.busy += Clock::now() - start;
    }

    int number;
    Book &book;
    Modbus modbus;
    Visits visits;
};

int main()
{
    Book book;
    std::vector<std::future<Visits>> cellars;
    for (int number = 0; number < @{cellars}; number++)
        cellars.push_back(std::async(std::launch::async, [number, &book] { return Cellar(number, book).keep(); }));
    Visits all;
    for (auto &cellar : cellars) {
        const Visits one = cellar.get();
        all.units += one.units;
        all.busy += one.busy;
        all.asking += one.asking;
    }
    std::ofstream("@{report}") << "{\"units\": " << all.units << ", \"seconds\": " << all.busy.count() << ", \"culprit\": " << all.asking.count() << "}";
}
