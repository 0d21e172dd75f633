// Serves the tiles of a hiking map: heights in steps of fifty metres, run by run. A thread for each hiker.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

using Tile = std::shared_ptr<const std::string>;

constexpr int side = @{side};
constexpr uint32_t start_page = 32;
constexpr bool inside = std::string_view("@{drawing}") == "inside";

double height(double x, double y)
{
    double sum = 0, wide = 1;
    for (int octave = 0; octave < 4; octave++, wide /= 2)
        sum += (std::sin(x / wide + octave) * std::cos(y / wide - octave) + 1) * 400 * wide;
    return sum;
}

Tile draw(uint32_t number)
{
    auto out = std::make_shared<std::string>();
    out->reserve(side * 8);
    const double left = number % 1000, top = number / 1000;
    for (int row = 0; row < side; row++) {
        int run = 0, last = -1;
        auto close = [&] {
            if (run > 0)
                *out += {static_cast<char>(run), static_cast<char>(last)};
        };
        for (int column = 0; column < side; column++) {
            const int step = static_cast<int>(height(left + double(column) / side, top + double(row) / side) / 50) & 255;
            if (step == last && run < 255) {
                run++;
                continue;
            }
            close();
            run = 1;
            last = step;
        }
        close();
    }
    return out;
}

class Map {
public:
    [[gnu::noinline]] Tile @{fn}(uint32_t number)
    {
        std::unique_lock guard(@{lock});
        if (Tile known = find(number))
            return known;
        if constexpr (!inside)
            guard.unlock();
        Tile tile = draw(number);
        if constexpr (!inside)
            guard.lock();
        keep(number, tile);
        return tile;
    }

private:
    using Order = std::list<std::pair<uint32_t, Tile>>;

    Tile find(uint32_t number)
    {
        auto found = places.find(number);
        if (found == places.end())
            return nullptr;
        order.splice(order.begin(), order, found->second);
        return found->second->second;
    }

    void keep(uint32_t number, Tile tile)
    {
        if (places.count(number))
            return;
        order.emplace_front(number, std::move(tile));
        places[number] = order.begin();
        if (order.size() > @{kept}) {
            places.erase(order.back().first);
            order.pop_back();
        }
    }

    std::mutex @{lock};
    Order order;
    std::unordered_map<uint32_t, Order::iterator> places;
};

// Every third hiker looks at the region's start page, the others at places of their own.
uint32_t place(uint32_t asked)
{
    const uint32_t mixed = (asked * 0x9E3779B1u) >> 8;
    return mixed % 3 == 0 ? mixed % start_page : 1000 + asked;
}

bool say(int line, const std::string &text)
{
    for (size_t at = 0; at < text.size();) {
        const ssize_t n = send(line, text.data() + at, text.size() - at, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
    }
    return true;
}

void talk(int line, Map &map)
{
    std::string text;
    char piece[4096];
    for (ssize_t n; (n = recv(line, piece, sizeof piece, 0)) > 0;) {
        text.append(piece, n);
        size_t end = text.find("\r\n\r\n");
        if (end == std::string::npos)
            continue;
        unsigned asked = 0;
        std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        if (std::sscanf(text.c_str(), "GET /tiles/%u", &asked) == 1) {
            const Tile tile = map.@{fn}(place(asked));
            answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(tile->size()) + "\r\n\r\n" + *tile;
        }
        text.erase(0, end + 4);
        if (!say(line, answer))
            break;
    }
    close(line);
}

int main()
{
    Map map;
    for (uint32_t number = 0; number < start_page; number++)
        map.@{fn}(number);
    const int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64)) {
        std::perror("door");
        return 1;
    }
    for (;;) {
        const int line = accept(door, nullptr, nullptr);
        if (line < 0)
            continue;
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(talk, line, std::ref(map)).detach();
    }
}
