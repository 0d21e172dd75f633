// Opens the barriers of the garages of a city, and settles their tickets: one loop for all lines.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Ticket {
    long number, from, to;
    bool season;
};

struct Takings {
    long cents = 0, stays = 0;
    std::array<long, 24> by_hour{};
};

// What a minute costs, in hundredths of a cent, by the hour of the day and the day of the week.
static int price(long minute)
{
    long hour = minute / 60 % 24, day = minute / 1440 % 7;
    int base = hour < 7 || hour >= 21 ? 110 : 390;
    return day >= 5 ? base * 2 / 3 : base;
}

static std::vector<Ticket> tickets_of(int garage)
{
    std::ifstream file("@{work}/@{tickets}/garage-" + std::to_string(garage) + ".csv");
    std::vector<Ticket> tickets;
    for (std::string line; std::getline(file, line);) {
        Ticket ticket{};
        char kind[16] = "";
        if (sscanf(line.c_str(), "%ld;%ld;%ld;%15s", &ticket.number, &ticket.from, &ticket.to, kind) == 4) {
            ticket.season = !strcmp(kind, "season");
            tickets.push_back(ticket);
        }
    }
    return tickets;
}

static void __attribute__((noinline)) @{fn}(int garage)
{
    Takings takings;
    for (const Ticket &ticket : tickets_of(garage)) {
        if (ticket.season)
            continue;
        long hundredths = 0;
        for (long minute = ticket.from / 60; minute <= ticket.to / 60; minute++) {
            int one = price(minute);
            hundredths += one;
            takings.by_hour[minute / 60 % 24] += one;
        }
        takings.cents += hundredths / 100;
        takings.stays++;
    }
    std::ofstream sheet("@{work}/garage-" + std::to_string(garage) + ".sum");
    sheet << takings.stays << " stays, " << takings.cents << " cents\n";
    for (int hour = 0; hour < 24; hour++)
        sheet << hour << ": " << takings.by_hour[hour] / 100 << "\n";
}

class Barriers {
    int loop = epoll_create1(0), door;
    std::map<int, std::string> lines;
    std::vector<unsigned> levels = std::vector<unsigned>(60 * 4, 0);
    long entered = 0;

    void watch(int fd)
    {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = fd;
        epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
    }

    // The emptiest level of the garage, and the code of the ticket.
    std::string enter(long number)
    {
        unsigned *level = &levels[number % 60 * 4];
        int best = 0;
        for (int i = 1; i < 4; i++)
            if (level[i] < level[best])
                best = i;
        level[best]++;
        unsigned long code = number;
        for (int i = 0; i < 20000; i++)
            code = code * 6364136223846793005ul + 1442695040888963407ul;
        std::ostringstream answer;
        answer << "open level " << best << " ticket " << std::hex << code << " " << std::dec << ++entered << "\n";
        return answer.str();
    }

public:
    Barriers()
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(@{port});
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int yes = 1;
        door = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64))
            throw std::runtime_error("the port is taken");
        watch(door);
    }

    void hear(int fd)
    {
        if (fd == door) {
            int line = accept(door, nullptr, nullptr), yes = 1;
            setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            lines[line] = "";
            watch(line);
            return;
        }
        char piece[4096];
        ssize_t got = recv(fd, piece, sizeof piece, 0);
        if (got <= 0) {
            lines.erase(fd);
            close(fd);
            return;
        }
        std::string &text = lines[fd].append(piece, got), answers;
        for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
            answers += enter(atol(text.c_str() + text.find(' ') + 1));
        if (!answers.empty())
            send(fd, answers.data(), answers.size(), MSG_NOSIGNAL);
    }

    void run()
    {
        const std::string place = "@{place}";
        const auto every = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(@{every}));
        auto due = Clock::now() + every;
        for (int garage = 0;;) {
            epoll_event events[32];
            auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count() + 1;
            int count = epoll_wait(loop, events, 32, rest > 0 ? static_cast<int>(rest) : 0);
            for (int i = 0; i < count; i++)
                hear(events[i].data.fd);
            if (Clock::now() < due)
                continue;
            if (place == "here")
                @{fn}(garage);
            else
                std::thread(@{fn}, garage).detach();
            garage = (garage + 1) % 60;
            due = Clock::now() + every;
        }
    }
};

int main()
{
    Barriers().run();
}
