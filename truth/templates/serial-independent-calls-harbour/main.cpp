// The board of a harbour: when a vessel may come in, by tide, wind, lock, berth and pilot.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Said {
    int level = 0;
    double trend = 0;
};

sockaddr_in address(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

// A connection that is read by lines.
class Line {
public:
    explicit Line(int fd) : fd_(fd) {
        int one = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    Line(const Line&) = delete;
    ~Line() { close(fd_); }

    void put(const std::string& text) {
        if (write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw std::runtime_error("the line is down");
    }

    std::string get() {
        for (;;) {
            if (auto end = held_.find('\n'); end != std::string::npos) {
                std::string line = held_.substr(0, end);
                held_.erase(0, end + 1);
                return line;
            }
            char part[512];
            ssize_t got = read(fd_, part, sizeof part);
            if (got <= 0) throw std::runtime_error("closed");
            held_.append(part, got);
        }
    }

private:
    int fd_;
    std::string held_;
};

int connected(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at = address(port);
    if (connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at)) throw std::runtime_error("a desk is closed");
    return fd;
}

class Board {
public:
    Board() {
        for (size_t i = 0; i < heights_.size(); i++) heights_[i] = std::sin(i * M_PI / 24);
    }

    std::string row(int vessel) {
        double worth = 0;
        int quarter = window(@{fn}(vessel), worth);
        char text[96];
        snprintf(text, sizeof text, "vessel %d: %02d:%02d, %.2f\n", vessel, quarter / 4, quarter % 4 * 15, worth);
        return text;
    }

private:
    static Said parsed(const std::string& text) {
        Said said;
        if (sscanf(text.c_str(), "%d %lf", &said.level, &said.trend) != 2) throw std::runtime_error("a desk says " + text);
        return said;
    }

    static std::string question(int vessel, int hint) { return std::to_string(vessel) + " " + std::to_string(hint) + "\n"; }

    __attribute__((noinline)) std::array<Said, 5> @{fn}(int vessel) {
        std::array<Said, 5> said;
        const std::string order = "@{order}";
        if (order == "once") {
            for (auto& desk : desks_) desk.put(question(vessel, 0));
            for (size_t i = 0; i < desks_.size(); i++) said[i] = parsed(desks_[i].get());
            return said;
        }
        int hint = 0;
        for (size_t i = 0; i < desks_.size(); i++) {
            desks_[i].put(question(vessel, hint));
            said[i] = parsed(desks_[i].get());
            if (order == "relay") hint = said[i].level;
        }
        return said;
    }

    // How good each quarter of an hour is, and which is the best.
    int window(const std::array<Said, 5>& said, double& most) const {
        int best = 0;
        most = -1e9;
        for (int pass = 0; pass < @{detail} * 40; pass++) {
            for (int quarter = 0; quarter < 96; quarter++) {
                double worth = 0;
                for (const Said& one : said) worth += heights_[quarter] * std::cos(one.trend + pass) - (one.level / 15 + 960 - quarter - pass % 96) % 96 / 200.0;
                if (worth > most) {
                    most = worth;
                    best = quarter;
                }
            }
        }
        return best;
    }

    std::array<Line, 5> desks_{Line(connected(@{tide})), Line(connected(@{wind})), Line(connected(@{lock})), Line(connected(@{berth})), Line(connected(@{pilot}))};
    std::array<double, 96> heights_{};
};

void serve(int fd) {
    try {
        Line skipper(fd);
        Board board;
        for (;;) {
            std::string line = skipper.get();
            int vessel = 0;
            skipper.put(sscanf(line.c_str(), "board %d", &vessel) == 1 ? board.row(vessel) : "unknown\n");
        }
    } catch (const std::exception& error) {
        fprintf(stderr, "skipper: %s\n", error.what());
    }
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in at = address(@{port});
    if (bind(door, reinterpret_cast<sockaddr*>(&at), sizeof at) || listen(door, 64)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int fd = accept(door, nullptr, nullptr);
        if (fd >= 0) std::thread(serve, fd).detach();
    }
}
