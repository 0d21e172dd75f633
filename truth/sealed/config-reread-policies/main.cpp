// Doors: a badge is held to one, and it opens or not.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

static sockaddr_in local(uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

class Gate {
public:
    Gate() : fd_(socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address = local(@{gate});
        int on = 1;
        if (connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no gate");
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~Gate() { close(fd_); }

    bool admits(uint16_t door, uint32_t badge)
    {
        unsigned char frame[6];
        uint16_t number = htons(door);
        uint32_t of = htonl(badge);
        memcpy(frame, &number, 2);
        memcpy(frame + 2, &of, 4);
        if (send(fd_, frame, 6, MSG_NOSIGNAL) != 6 || recv(fd_, frame, 5, MSG_WAITALL) != 5)
            throw std::runtime_error("the gate is gone");
        return frame[4];
    }

private:
    int fd_;
};

static void serve(int client)
{
    try {
        Gate gate;
        char line[128];
        ssize_t n;
        while ((n = recv(client, line, sizeof line - 1, 0)) > 0) {
            line[n] = 0;
            const char *text = strchr(line, ' ');
            long badge = text ? atol(text) : 0;
            std::string answer = gate.admits(badge % 40, badge) ? "open\n" : "closed\n";
            send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
    }
    close(client);
}

int main()
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address = local(@{port});
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 64))
        return perror("listen"), 1;
    for (;;) {
        int client = accept(listener, nullptr, nullptr);
        if (client < 0)
            continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, client).detach();
    }
}
