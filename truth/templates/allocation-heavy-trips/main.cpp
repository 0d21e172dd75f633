// Plans trips by bus and tram: a line in (`trip 17`), a line out.
#include <algorithm>
#include <arpa/inet.h>
#include <cmath>
#include <csignal>
#include <cstring>
#include <queue>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

struct Edge {
    int to;
    float minutes;
    std::string line;
};

struct Stop {
    std::string name;
    float x, y;
    std::vector<Edge> edges;
};

struct Way {
    float minutes, guess;
    int stop, before;
    std::vector<std::string> legs;
    bool operator<(const Way &other) const { return guess > other.guess; }
};

static std::vector<Stop> network;

static void read_network()
{
    for (int i = 0; i < @{stops}; i++)
        network.push_back({ "stop at the corner of street " + std::to_string(i), float(i % 31), float(i * 7 % 29), {} });
    for (int i = 0; i < @{stops}; i++)
        for (int k = 1; k <= @{degree}; k++) {
            int to = (i * 3 + k * 37 + 1) % @{stops};
            float x = network[i].x - network[to].x, y = network[i].y - network[to].y;
            network[i].edges.push_back({ to, std::sqrt(x * x + y * y) * 1.4f + 2, "tram of the inner ring " + std::to_string(k) });
        }
}

static float guess(int from, int to)
{
    float x = network[from].x - network[to].x, y = network[from].y - network[to].y;
    return std::sqrt(x * x + y * y);
}

__attribute__((noinline)) static Way @{fn}(const Way &way, const Edge &edge, int goal)
{
    Way next = way;
    next.legs.push_back(edge.line + " to " + network[edge.to].name);
    next.minutes += edge.minutes;
    next.stop = edge.to;
    next.guess = next.minutes + guess(edge.to, goal);
    return next;
}

static std::string told(float minutes, size_t legs, int goal)
{
    return std::to_string(int(minutes)) + " minutes, " + std::to_string(legs) + " legs to " + network[goal].name + "\n";
}

static std::string search(int from, int goal)
{
    std::priority_queue<Way> open;
    open.push({ 0, guess(from, goal), from, -1, {} });
    float best = 1e9;
    size_t legs = 0;
    for (int tries = 0; tries < @{limit} && !open.empty(); tries++) {
        Way way = open.top();
        open.pop();
        if (way.stop == goal && way.minutes < best)
            best = way.minutes, legs = way.legs.size();
        if (way.legs.size() < 9)
            for (const Edge &edge : network[way.stop].edges)
                open.push(@{fn}(way, edge, goal));
    }
    return told(best < 1e9 ? best : 0, legs, goal);
}

// Ways stay where they are, in a table that is used again; each knows the one before.
static std::string look(int from, int goal)
{
    struct Short { float minutes, guess; int stop, before, depth; };
    thread_local std::vector<Short> ways;
    thread_local std::vector<int> open;
    ways.clear();
    open.clear();
    auto later = [&](int a, int b) { return ways[a].guess > ways[b].guess; };
    ways.push_back({ 0, guess(from, goal), from, -1, 0 });
    open.push_back(0);
    float best = 1e9;
    size_t legs = 0;
    for (int tries = 0; tries < @{limit} && !open.empty(); tries++) {
        std::pop_heap(open.begin(), open.end(), later);
        int at = open.back();
        Short way = ways[at];
        open.pop_back();
        if (way.stop == goal && way.minutes < best)
            best = way.minutes, legs = way.depth;
        if (way.depth < 9)
            for (const Edge &edge : network[way.stop].edges) {
                float minutes = way.minutes + edge.minutes;
                ways.push_back({ minutes, minutes + guess(edge.to, goal), edge.to, at, way.depth + 1 });
                open.push_back(int(ways.size()) - 1);
                std::push_heap(open.begin(), open.end(), later);
            }
    }
    return told(best < 1e9 ? best : 0, legs, goal);
}

static void serve(int line)
{
    char text[256];
    for (ssize_t got; (got = read(line, text, sizeof text - 1)) > 0;) {
        text[got] = 0;
        long number = strncmp(text, "trip ", 5) ? 0 : atol(text + 5);
        int from = number * 131 % @{stops}, goal = (number * 977 + 41) % @{stops};
        std::string answer = @{copies} ? search(from, goal) : look(from, goal);
        if (write(line, answer.data(), answer.size()) < 0)
            break;
    }
    close(line);
}

int main()
{
    signal(SIGPIPE, SIG_IGN);
    read_network();
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, (sockaddr *)&address, sizeof address) || listen(door, 64))
        return 1;
    for (int line; (line = accept(door, nullptr, nullptr)) >= 0;)
        std::thread(serve, line).detach();
    return 1;
}
