// A freight exchange: the best offers for a cargo.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

struct Offer {
    std::string carrier;
    double per_ton, per_km, speed, distance;
};

struct Bid {
    const Offer *offer;
    int cents, hours, beaten;
};

static const char *offers_file = "@{work}/@{offers_file}";

static void write_market()
{
    std::ofstream out(offers_file);
    for (long i = 0; i < @{offers}; i++)
        out << "carrier-" << i % @{carriers} << '\t' << 4 + i * 37 % 900 / 100.0 << '\t' << 0.4 + i * 91 % 1300 / 1000.0 << '\t'
            << 38 + i * 53 % 420 / 10.0 << '\t' << i * 7919 % 640 << '\n';
}

static std::vector<Offer> read_market()
{
    std::vector<Offer> market;
    std::ifstream in(offers_file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        Offer offer;
        fields >> offer.carrier >> offer.per_ton >> offer.per_km >> offer.speed >> offer.distance;
        market.push_back(offer);
    }
    return market;
}

// By the leg: hills cost more, and more still for the slow.
static double toll(const Offer &offer, double way)
{
    const double step = way / @{legs};
    double sum = 0;
    for (int leg = 0; leg < @{legs}; leg++)
        sum += (1.1 + std::sin(offer.distance + leg * step)) * step * (offer.speed > 60 ? 0.04 : 0.05);
    return sum;
}

static std::vector<Bid> priced(const std::vector<Offer> &market, long cargo)
{
    const double tons = 3 + cargo % 22, way = 120 + cargo * 37 % 900;
    std::vector<Bid> bids;
    for (const Offer &offer : market) {
        const double to = std::hypot(offer.distance - cargo % 640, 40.0);
        const double cents = 100 * (offer.per_ton * tons + offer.per_km * (way + to * 0.6) + 80 * std::log1p(to) + toll(offer, way));
        const int extra = static_cast<int>((bids.size() * 31 + cargo) % 9);
        bids.push_back({&offer, static_cast<int>(cents), static_cast<int>((way + to) / offer.speed * 10) + extra, 0});
    }
    return bids;
}

__attribute__((noinline)) static void @{fn}(std::vector<Bid> &bids)
{
    for (Bid &bid : bids)
        for (const Bid &other : bids)
            if (bid.cents < other.cents && bid.hours < other.hours)
                bid.beaten++;
}

// From the dearest to the cheapest; a tree of counts by hours says how many of the dearer ones are slower.
static void count(std::vector<Bid> &bids)
{
    std::sort(bids.begin(), bids.end(), [](const Bid &a, const Bid &b) { return a.cents > b.cents; });
    int most = 1;
    for (const Bid &bid : bids)
        most = std::max(most, bid.hours + 1);
    std::vector<int> tree(most + 1);
    for (size_t first = 0; first < bids.size();) {
        size_t last = first;
        for (; last < bids.size() && bids[last].cents == bids[first].cents; last++)
            for (int at = most - bids[last].hours - 1; at > 0; at &= at - 1)
                bids[last].beaten += tree[at];
        for (; first < last; first++)
            for (int at = most - bids[first].hours; at <= most; at += at & -at)
                tree[at]++;
    }
}

static std::string answer(const std::vector<Offer> &market, long cargo)
{
    std::vector<Bid> bids = priced(market, cargo);
    if (!strcmp("@{ranking}", "pairs"))
        @{fn}(bids);
    else
        count(bids);
    std::partial_sort(bids.begin(), bids.begin() + 5, bids.end(), [](const Bid &a, const Bid &b) { return a.beaten > b.beaten; });
    std::ostringstream out;
    for (int i = 0; i < 5; i++)
        out << (i ? "; " : "") << bids[i].offer->carrier << ' ' << bids[i].cents / 100.0 << " in " << bids[i].hours / 10 << " h";
    out << '\n';
    return out.str();
}

static void serve(const std::vector<Offer> &market, int shipper)
{
    char line[128];
    ssize_t n;
    while ((n = read(shipper, line, sizeof line - 1)) > 0) {
        line[n] = 0;
        const char *number = strchr(line, ' ');
        const std::string text = answer(market, number ? atol(number) : 0);
        if (write(shipper, text.data(), text.size()) < 0)
            break;
    }
    close(shipper);
}

int main()
{
    write_market();
    const std::vector<Offer> market = read_market();
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64))
        return perror("door"), 1;
    for (;;) {
        int shipper = accept(door, nullptr, nullptr);
        if (shipper < 0)
            continue;
        setsockopt(shipper, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, std::cref(market), shipper).detach();
    }
}
