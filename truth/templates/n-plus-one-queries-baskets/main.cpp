// Shows baskets: what is in them, and what it costs.
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Article {
    uint32_t cents;
    std::string text;
};

class Store {
public:
    Store() : fd_(socket(AF_UNIX, SOCK_STREAM, 0))
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        snprintf(address.sun_path, sizeof address.sun_path, "%s", "@{work}/@{sock}");
        if (connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no store");
    }
    ~Store() { close(fd_); }

    std::vector<Article> get(const std::vector<uint64_t> &keys)
    {
        std::string frame(3 + keys.size() * 8, '\xA7');
        uint16_t count = htobe16(keys.size());
        memcpy(&frame[1], &count, 2);
        for (size_t i = 0; i < keys.size(); i++) {
            uint64_t key = htobe64(keys[i]);
            memcpy(&frame[3 + i * 8], &key, 8);
        }
        if (send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frame.size()))
            throw std::runtime_error("the store is gone");
        at_ = end_ = 0;
        take(3);
        std::vector<Article> articles;
        for (size_t i = 0; i < keys.size(); i++) {
            std::string head = take(6);
            uint32_t cents;
            uint16_t size;
            memcpy(&cents, &head[0], 4);
            memcpy(&size, &head[4], 2);
            articles.push_back({ be32toh(cents), take(be16toh(size)) });
        }
        return articles;
    }

private:
    std::string take(size_t size)
    {
        std::string bytes;
        while (bytes.size() < size) {
            if (at_ == end_) {
                ssize_t n = recv(fd_, buffer_, sizeof buffer_, 0);
                if (n <= 0)
                    throw std::runtime_error("the store is gone");
                at_ = 0;
                end_ = n;
            }
            size_t part = std::min(size - bytes.size(), end_ - at_);
            bytes.append(buffer_ + at_, part);
            at_ += part;
        }
        return bytes;
    }

    int fd_;
    size_t at_ = 0, end_ = 0;
    char buffer_[65536];
};

std::vector<uint64_t> basket(long number)
{
    std::vector<uint64_t> keys;
    for (long i = 0; i < @{lines}; i++)
        keys.push_back((number * 1009 + i * 97) % 100003);
    return keys;
}

__attribute__((noinline)) uint64_t @{fn}(Store &store, const std::vector<uint64_t> &keys)
{
    uint64_t total = 0;
    if (!strcmp("@{ask}", "all")) {
        for (const Article &article : store.get(keys))
            total += article.cents;
        return total;
    }
    for (uint64_t key : keys)
        total += store.get({ key }).at(0).cents;
    return total;
}

void serve(int client)
{
    try {
        Store store;
        char line[128];
        ssize_t n;
        while ((n = recv(client, line, sizeof line - 1, 0)) > 0) {
            line[n] = 0;
            const char *number = strchr(line, ' ');
            std::string answer = "total " + std::to_string(@{fn}(store, basket(number ? atol(number) : 0))) + "\n";
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
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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
