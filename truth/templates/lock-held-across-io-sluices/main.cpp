// The centre of a canal: polls the controllers of the sluices for the level of the water, and says the levels to the panels of the keepers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

constexpr int SLUICES = @{sluices};

struct __attribute__((packed)) Frame {
    uint16_t transaction, zero, length;
    uint8_t unit;
    uint16_t what, level;
};

static sockaddr_in local(int port) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return there;
}

static std::shared_mutex @{lock};

class Canal {
public:
    Canal() : levels(SLUICES, std::deque<int>(@{history}, 0)), radio(socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in there = local(@{plc});
        timeval most{2, 0};
        setsockopt(radio, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        if (connect(radio, reinterpret_cast<sockaddr *>(&there), sizeof there) != 0) {
            perror("radio");
            exit(1);
        }
    }

    __attribute__((noinline)) void @{fn}() {
        std::vector<std::optional<int>> found(SLUICES);
        std::unique_lock lock(@{lock}, std::defer_lock);
        if (@{held})
            lock.lock();
        for (int unit = 0; unit < SLUICES; unit++)
            found[unit] = ask(unit);
        if (!lock.owns_lock())
            lock.lock();
        for (int unit = 0; unit < SLUICES; unit++) {
            if (!found[unit])
                continue;
            levels[unit].push_back(*found[unit]);
            levels[unit].pop_front();
        }
    }

    __attribute__((noinline)) std::string @{look}(int unit) {
        std::shared_lock lock(@{lock});
        const std::deque<int> &known = levels[unit];
        auto [least, most] = std::minmax_element(known.begin(), known.end());
        char text[100];
        snprintf(text, sizeof text, "%d now %d least %d most %d\n", unit, known.back(), *least, *most);
        return text;
    }

private:
    std::optional<int> ask(int unit) {
        Frame question{htons(++transaction), 0, htons(6), uint8_t(unit), htons(40), 0}, answer;
        if (send(radio, &question, sizeof question - sizeof question.level, 0) < 0)
            return std::nullopt;
        while (recv(radio, &answer, sizeof answer, 0) == sizeof answer)
            if (answer.transaction == question.transaction && answer.unit == unit)
                return ntohs(answer.level);
        return std::nullopt;
    }

    std::vector<std::deque<int>> levels;
    int radio;
    uint16_t transaction = 0;
};

static void serve(Canal &canal, int panel) {
    int on = 1;
    setsockopt(panel, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    FILE *asked = fdopen(panel, "r");
    char line[200];
    while (fgets(line, sizeof line, asked)) {
        const char *number = strchr(line, ' ');
        std::string text = canal.@{look}(number ? atol(number) % SLUICES : 0);
        if (write(panel, text.data(), text.size()) < 0)
            break;
    }
    fclose(asked);
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    Canal canal;
    std::thread poller([&] {
        pthread_setname_np(pthread_self(), "poller");
        for (;;) {
            canal.@{fn}();
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{every}));
        }
    });
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here = local(@{port});
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(door, 64) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int panel = accept(door, nullptr, nullptr);
        if (panel >= 0)
            std::thread(serve, std::ref(canal), panel).detach();
    }
}
