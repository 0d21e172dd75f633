// The page of the avalanche service: how dangerous is a slope today?
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Layer {
    double thick, density, hard;
};

using Profile = std::vector<Layer>;

static int open_socket(int port, bool listening)
{
    sockaddr_in at{};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listening)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    else
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto *where = reinterpret_cast<sockaddr *>(&at);
    if (listening ? bind(fd, where, sizeof at) || listen(fd, 64) : connect(fd, where, sizeof at))
        throw std::runtime_error("port " + std::to_string(port));
    return fd;
}

// Text up to and with this end, or nothing when the other end is gone.
static bool hear(int fd, std::string &got, const char *end)
{
    char part[4096];
    got.clear();
    while (got.find(end) == std::string::npos) {
        ssize_t n = read(fd, part, sizeof part);
        if (n <= 0)
            return false;
        got.append(part, n);
    }
    return true;
}

static bool tell(int fd, const std::string &text)
{
    return write(fd, text.data(), text.size()) == ssize_t(text.size());
}

class Relay {
public:
    Relay() : fd(open_socket(@{relay}, false)) {}
    ~Relay() { close(fd); }

    Profile ask(int slope)
    {
        std::string got, number;
        if (!tell(fd, "slope " + std::to_string(slope) + "\n") || !hear(fd, got, "\n"))
            throw std::runtime_error("the relay is gone");
        std::istringstream words(got);
        words >> number;
        Profile profile;
        Layer layer;
        for (std::string word; words >> word;)
            if (sscanf(word.c_str(), "%lf:%lf:%lf", &layer.thick, &layer.density, &layer.hard) == 3)
                profile.push_back(layer);
        return profile;
    }

private:
    int fd;
};

static std::map<int, Profile> told;
static std::mutex telling;

static int danger(const Profile &profile)
{
    double worst = 0;
    for (int round = 0; round < @{rounds}; round++) {
        double load = round / 50.0;
        for (const Layer &layer : profile) {
            load += layer.thick * layer.density * 9.81 / 1e5;
            worst = std::max(worst, load / (layer.hard * (1 + layer.thick / 80)));
        }
    }
    return std::min(5, 1 + int(worst));
}

static std::string slope_page(int slope, Relay *relay)
{
    Profile profile;
    if (relay) {
        profile = relay->ask(slope);
    } else {
        std::lock_guard<std::mutex> inside(telling);
        profile = told[slope];
    }
    return "{\"slope\": " + std::to_string(slope) + ", \"layers\": " + std::to_string(profile.size()) + ", \"level\": " + std::to_string(danger(profile)) + "}";
}

static void listen_to_all()
{
    Relay relay;
    for (int slope = 0;; slope = (slope + 1) % @{slopes}) {
        Profile profile = relay.ask(slope);
        std::lock_guard<std::mutex> inside(telling);
        told[slope] = profile;
    }
}

static void serve(int fd)
{
    try {
        std::string got;
        Relay *relay = @{ahead} ? nullptr : new Relay;
        while (hear(fd, got, "\r\n\r\n")) {
            int number = 0;
            sscanf(got.c_str(), "GET /slopes/%d", &number);
            std::string body = slope_page(number % @{slopes}, relay);
            if (!tell(fd, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body))
                break;
        }
        delete relay;
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
    }
    close(fd);
}

int main()
{
    signal(SIGPIPE, SIG_IGN);
    int door = open_socket(@{port}, true);
    if (@{ahead})
        std::thread(listen_to_all).detach();
    for (;;) {
        int fd = accept(door, nullptr, nullptr), on = 1;
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, fd).detach();
    }
}
