// Keeps the chambers of a cold store at their degrees: reads the probes, sets the valves, and keeps a journal of both.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
using Words = std::vector<uint16_t>;
using Bytes = std::vector<uint8_t>;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static void put(Bytes &into, unsigned word)
{
    into.push_back(word >> 8);
    into.push_back(word & 255);
}

class Line {
public:
    explicit Line(int port)
    {
        sockaddr_in at{};
        int on = 1;
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof at))
            throw std::runtime_error("no controller");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    ~Line() { close(fd); }

    Bytes exchange(int chamber, int function, const Bytes &body)
    {
        auto start = Clock::now();
        Bytes frame;
        put(frame, ++number);
        put(frame, 0);
        put(frame, body.size() + 2);
        frame.push_back(chamber);
        frame.push_back(function);
        frame.insert(frame.end(), body.begin(), body.end());
        if (send(fd, frame.data(), frame.size(), MSG_NOSIGNAL) != ssize_t(frame.size()))
            throw std::runtime_error("the controller is gone");
        size_t have = 0, want = 8;
        uint8_t answer[600];
        while (have < want) {
            ssize_t n = recv(fd, answer + have, sizeof answer - have, 0);
            if (n <= 0)
                throw std::runtime_error("the controller is gone");
            have += n;
            if (have >= 8)
                want = 6 + answer[4] * 256 + answer[5];
        }
        waited += since(start);
        if (answer[7] != function)
            throw std::runtime_error("the controller does not want this");
        return Bytes(answer + 8, answer + want);
    }

    double waited = 0;

private:
    int fd;
    uint16_t number = 0;
};

[[gnu::noinline]] static Words @{fn}(Line &line, int chamber)
{
    Words degrees;
    const int step = @{block} ? @{probes} : 1;
    for (int probe = 0; probe < @{probes}; probe += step) {
        Bytes ask;
        put(ask, 100 + probe);
        put(ask, step);
        Bytes answer = line.exchange(chamber, 3, ask);
        for (size_t i = 1; i + 1 < answer.size(); i += 2)
            degrees.push_back(answer[i] * 256 + answer[i + 1]);
    }
    return degrees;
}

[[gnu::noinline]] static void @{fn2}(Line &line, int chamber, const Words &openings)
{
    Bytes body;
    if (@{block}) {
        put(body, 400);
        put(body, openings.size());
        body.push_back(2 * openings.size());
        for (uint16_t opening : openings)
            put(body, opening);
        line.exchange(chamber, 16, body);
        return;
    }
    for (size_t valve = 0; valve < openings.size(); valve++) {
        body.clear();
        put(body, 400 + valve);
        put(body, openings[valve]);
        line.exchange(chamber, 6, body);
    }
}

// What a chamber was like lately, and what its valves should do.
class Chamber {
public:
    Words openings(const Words &degrees)
    {
        lately.push_back(degrees);
        if (lately.size() > @{rounds} * 10)
            lately.pop_front();
        std::vector<double> middle(degrees.size());
        for (const Words &past : lately)
            for (size_t i = 0; i < middle.size(); i++)
                middle[i] += past[i] / double(lately.size());
        Words result;
        for (size_t valve = 0; valve < @{valves}; valve++) {
            double sum = 0;
            int many = 0;
            for (size_t i = valve % middle.size(); i < middle.size(); i += @{valves}, many++)
                sum += middle[i] + 3 * (degrees[i] - middle[i]);
            result.push_back(std::clamp(500 + (sum / many - 2500) / 2, 0.0, 1000.0));
        }
        return result;
    }

private:
    std::deque<Words> lately;
};

int main()
{
    Line line(@{controller});
    std::vector<Chamber> chambers(@{chambers});
    std::string journal;
    auto began = Clock::now();
    double busy = 0;
    long units = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        int number = units % @{chambers};
        Words degrees = @{fn}(line, number + 1);
        Words openings = chambers[number].openings(degrees);
        @{fn2}(line, number + 1, openings);
        journal += std::to_string(number + 1) + ";" + std::to_string(*std::max_element(degrees.begin(), degrees.end())) + "\n";
        units++;
        busy += since(start);
        double rest = units / @{rate} - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{work}/chambers.csv") << journal;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, line.waited);
    fclose(out);
}
