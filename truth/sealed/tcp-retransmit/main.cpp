#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

// Writes archive pages to the depot: an event loop with one line and a timer.
static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static int depot = -1, timer = -1;
static bool waiting = false;
static double began, asked, busy = 0, spent = 0;
static long units = 0;

static void @{fn}() {
    asked = now();
    unsigned long long h = units + 1;
    for (int r = 0; r < @{rounds} * 20; r++) h = h * 6364136223846793005ull + 1442695040888963407ull;
    std::string page;
    while (page.size() < @{bytes}) page += std::to_string(h++);
    page.resize(@{bytes});
    page += '\n';
    if (send(depot, page.data(), page.size(), 0) < 0) _exit(4);
    waiting = true;
}

static void arm() {
    double rest = began + units / @{pace} - now();
    if (rest < 1e-5) rest = 1e-5;
    itimerspec at{};
    at.it_value.tv_sec = static_cast<time_t>(rest);
    at.it_value.tv_nsec = static_cast<long>((rest - static_cast<time_t>(rest)) * 1e9);
    timerfd_settime(timer, 0, &at, nullptr);
}

int main() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(@{back});
    inet_pton(AF_INET, "10.@{net}.@{subnet}.2", &to.sin_addr);
    depot = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1, loop = epoll_create1(0);
    if (connect(depot, reinterpret_cast<sockaddr *>(&to), sizeof to)) return 3;
    setsockopt(depot, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int fd : {depot, timer}) {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
    }
    began = now();
    arm();
    while (waiting || now() - began < @{seconds}) {
        epoll_event events[4];
        int n = epoll_wait(loop, events, 4, -1);
        for (int i = 0; i < n; i++) {
            char text[256];
            if (read(events[i].data.fd, text, sizeof text) <= 0) return 5;
            if (events[i].data.fd == timer) {
                @{fn}();
                continue;
            }
            double took = now() - asked;
            busy += took;
            spent += took > 0.1 ? took : 0;
            units++;
            waiting = false;
            arm();
        }
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << "}";
}
