#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

// A thread hears each sender; the teller thread answers when an order is through.
using Clock = std::chrono::steady_clock;
struct Order {
    Clock::time_point due;
    std::set<int> lines;
    size_t mark = 0;
};
static std::mutex m;
static std::condition_variable come;
static std::map<std::string, Order> orders;

static void @{fn}(int fd, const std::string &key, const std::string &body) {
    std::lock_guard<std::mutex> lock(m);
    auto [at, fresh] = orders.try_emplace(key);
    if (fresh) at->second.due = Clock::now() + std::chrono::microseconds(static_cast<long>(@{hold} * 1000));
    at->second.mark = std::hash<std::string>{}(body);
    at->second.lines.insert(fd);
    come.notify_one();
}

static void teller() {
    std::unique_lock<std::mutex> lock(m);
    for (;;) {
        auto next = Clock::time_point::max();
        for (auto at = orders.begin(); at != orders.end();) {
            if (at->second.due > Clock::now()) {
                next = std::min(next, at->second.due);
                ++at;
                continue;
            }
            std::string text = "taken " + at->first + " " + std::to_string(at->second.mark) + "\n";
            text = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
            for (int fd : at->second.lines) send(fd, text.data(), text.size(), MSG_NOSIGNAL);
            at = orders.erase(at);
        }
        if (next == Clock::time_point::max()) come.wait(lock);
        else come.wait_until(lock, next);
    }
}

static void hear(int fd) {
    std::string got;
    char part[8192];
    for (ssize_t n; (n = recv(fd, part, sizeof part, 0)) > 0;) {
        got.append(part, n);
        for (size_t end; (end = got.find("\r\n\r\n")) != std::string::npos;) {
            size_t length = strtoul(got.c_str() + got.find("Content-Length:") + 15, nullptr, 10);
            if (got.size() < end + 4 + length) break;
            size_t from = got.find('/', got.find('/') + 1) + 1;
            @{fn}(fd, got.substr(from, got.find(' ', from) - from), got.substr(end + 4, length));
            got.erase(0, end + 4 + length);
        }
    }
    std::lock_guard<std::mutex> lock(m);
    for (auto &one : orders) one.second.lines.erase(fd);
    close(fd);
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    int on = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(@{port});
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, reinterpret_cast<sockaddr *>(&at), sizeof at) || listen(server, 128)) return 3;
    std::thread(teller).detach();
    for (;;) {
        int fd = accept(server, nullptr, nullptr);
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(hear, fd).detach();
    }
}
