// The counter of a parcel shop: what do these parcels cost together?
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
#include <vector>

namespace {

struct Parcel {
    uint32_t grams;
    uint16_t zone;
};

sockaddr_in local(uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

class Pricing {
public:
    Pricing() : fd_(socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in address = local(@{pricing});
        int on = 1;
        if (connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no pricing");
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~Pricing() { close(fd_); }

    uint32_t quote(const std::vector<Parcel> &list)
    {
        std::vector<unsigned char> frames(list.size() * 14), answers(list.size() * 12);
        unsigned char *frame = frames.data();
        for (const Parcel &parcel : list) {
            uint32_t size = htonl(10), number = htonl(++number_), grams = htonl(parcel.grams);
            uint16_t zone = htons(parcel.zone);
            memcpy(frame, &size, 4);
            memcpy(frame + 4, &number, 4);
            memcpy(frame + 8, &grams, 4);
            memcpy(frame + 12, &zone, 2);
            frame += 14;
        }
        if (send(fd_, frames.data(), frames.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frames.size()))
            throw std::runtime_error("pricing is gone");
        if (recv(fd_, answers.data(), answers.size(), MSG_WAITALL) != static_cast<ssize_t>(answers.size()))
            throw std::runtime_error("pricing is gone");
        uint32_t total = 0;
        for (size_t i = 8; i < answers.size(); i += 12) {
            uint32_t cents;
            memcpy(&cents, &answers[i], 4);
            total += ntohl(cents);
        }
        return total;
    }

private:
    int fd_;
    uint32_t number_ = 0;
};

std::vector<Parcel> parcels(long order)
{
    std::vector<Parcel> list;
    for (long i = 0; i < @{parcels}; i++) {
        long n = order * 31 + i * 7919;
        list.push_back({ static_cast<uint32_t>(150 + n * 37 % 30000), static_cast<uint16_t>(n % @{zones}) });
    }
    return list;
}

void serve(int client)
{
    try {
        Pricing pricing;
        char line[128];
        ssize_t n;
        while ((n = recv(client, line, sizeof line - 1, 0)) > 0) {
            line[n] = 0;
            const char *order = strchr(line, ' ');
            uint32_t total = pricing.quote(parcels(order ? atol(order) : 0));
            std::string answer = "total " + std::to_string(total / 100.0) + "\n";
            send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\n", e.what());
    }
    close(client);
}

} // namespace

int main()
{
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address = local(@{port});
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 64))
        return perror("listen"), 1;
    for (;;) {
        int client = accept(listener, nullptr, nullptr);
        if (client >= 0)
            std::thread(serve, client).detach();
    }
}
