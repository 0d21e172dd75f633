// The gateway of a fleet: takes the tracks of lorries, smooths them, and tells which zones they went through.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Point {
    double x, y;
};

static sockaddr_in address(int port)
{
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(port);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return here;
}

class Line {
public:
    explicit Line(int socket) : socket_(socket)
    {
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Line(const Line &) = delete;
    ~Line() { close(socket_); }

    void put(const std::string &text)
    {
        if (send(socket_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
            throw std::runtime_error("the line is gone");
    }

    bool get(std::string &text)
    {
        size_t end;
        while ((end = rest_.find('\n')) == std::string::npos) {
            char some[512];
            ssize_t n = recv(socket_, some, sizeof some, 0);
            if (n <= 0)
                return false;
            rest_.append(some, n);
        }
        text = rest_.substr(0, end);
        rest_.erase(0, end + 1);
        return true;
    }

private:
    int socket_;
    std::string rest_;
};

class Fences {
public:
    int zone(Point at)
    {
        if (!line_)
            login();
        line_->put("ZONE " + std::to_string(std::lround(at.x)) + " " + std::to_string(std::lround(at.y)) + "\n");
        std::string answer;
        if (!line_->get(answer) || answer.compare(0, 5, "ZONE ") != 0)
            throw std::runtime_error("no zone");
        return std::stoi(answer.substr(5));
    }

    void leave()
    {
        if (line_)
            line_->put("QUIT\n");
        line_.reset();
    }

private:
    void login()
    {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in there = address(@{fences});
        line_ = std::make_unique<Line>(fd);
        if (connect(fd, reinterpret_cast<sockaddr *>(&there), sizeof there) != 0)
            throw std::runtime_error("the fence service is away");
        line_->put("LOGIN fleet north-4711\n");
        std::string answer;
        if (!line_->get(answer) || answer != "OK")
            throw std::runtime_error("not let in");
    }

    std::unique_ptr<Line> line_;
};

// The fixes of the receiver jump about: a mean over the neighbours, time and again, until it is smooth.
static std::vector<Point> smoothed(long lorry)
{
    std::vector<Point> raw(2400), next;
    for (size_t i = 0; i < raw.size(); i++)
        raw[i] = {lorry * 37.0 + i * 3 + std::sin(i * 12.9 + lorry) * 40, lorry * 11.0 + i * 2 + std::cos(i * 7.3) * 40};
    for (int pass = 0; pass < 120; pass++) {
        next = raw;
        for (size_t i = 1; i + 1 < raw.size(); i++)
            next[i] = {(raw[i - 1].x + raw[i].x + raw[i + 1].x) / 3, (raw[i - 1].y + raw[i].y + raw[i + 1].y) / 3};
        raw.swap(next);
    }
    return raw;
}

static int __attribute__((noinline)) @{fn}(Fences &fences, Point at)
{
    int zone = fences.zone(at);
    if (std::string("@{line}") == "question")
        fences.leave();
    return zone;
}

static void serve(int socket, long number)
{
    Line lorry(socket);
    Fences fences;
    std::string line;
    int last = 0;
    for (long asked = number; lorry.get(line);) {
        std::istringstream words(line);
        std::string verb;
        long id = 0;
        words >> verb >> id;
        auto track = smoothed(id);
        std::set<int> zones;
        for (int i = 0; i < @{points}; i++) {
            if (++asked % @{known} == 0)
                last = @{fn}(fences, track[i * track.size() / @{points}]);
            zones.insert(last);
        }
        lorry.put("track " + std::to_string(id) + ": " + std::to_string(zones.size()) + " zones\n");
    }
}

int main()
{
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in here = address(@{port});
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(door, 64) != 0) {
        perror("bind");
        return 1;
    }
    for (long number = 0;; number += 29) {
        int client = accept(door, nullptr, nullptr);
        if (client < 0)
            continue;
        std::thread([client, number] {
            try {
                serve(client, number);
            } catch (const std::exception &error) {
                fprintf(stderr, "%s\n", error.what());
            }
        }).detach();
    }
}
