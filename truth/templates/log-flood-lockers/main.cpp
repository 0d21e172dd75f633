// Finds a door of a bank of lockers for a parcel: each door's controller is asked for its state, by frames of its bus.
#include <algorithm>
#include <arpa/inet.h>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

enum Level { TRACE, INFO, WARN };

class Log {
public:
    Log(const char *path, Level level) : file_(path, std::ios::app), level_(level) {}

    bool wants(Level level) const { return level >= level_; }

    void write(Level level, const std::string &text)
    {
        if (!wants(level))
            return;
        timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        tm parts;
        gmtime_r(&now.tv_sec, &parts);
        char time[64];
        size_t n = strftime(time, sizeof time, "%FT%T", &parts);
        snprintf(time + n, sizeof time - n, ".%06ld", now.tv_nsec / 1000);
        static const char *names[] = {" TRACE bus ", " INFO  bus ", " WARN  bus "};
        std::lock_guard<std::mutex> held(hold_);
        file_ << time << names[level] << text << std::endl;
    }

private:
    std::ofstream file_;
    Level level_;
    std::mutex hold_;
};

struct Door {
    int number;
    unsigned turns = 0;

    std::vector<unsigned char> answer(const std::vector<unsigned char> &frame)
    {
        turns++;
        std::vector<unsigned char> body(@{frame});
        for (size_t i = 4; i < body.size(); i++)
            body[i] = i * number + turns;
        body[0] = number;
        body[1] = turns;
        body[2] = frame[2];
        body[3] = (turns * 7 + number) % 5;
        return body;
    }
};

static unsigned crc(const std::vector<unsigned char> &frame)
{
    unsigned total = 0xFFFF;
    for (unsigned char c : frame) {
        total ^= c;
        for (int bit = 0; bit < 8; bit++)
            total = total & 1 ? total >> 1 ^ 0xA001 : total >> 1;
    }
    return total;
}

class Bus {
public:
    explicit Bus(Log &log) : log_(log)
    {
        for (int number = 1; number <= @{doors}; number++)
            doors_.push_back({number});
    }

    int free(unsigned order)
    {
        std::lock_guard<std::mutex> held(hold_);
        int found = 0;
        unsigned best = UINT_MAX;
        for (Door &door : doors_) {
            std::vector<unsigned char> frame = {(unsigned char)door.number, 0x41, (unsigned char)order, (unsigned char)(order >> 24), (unsigned char)(order >> 16), (unsigned char)(order >> 8), (unsigned char)order};
            @{fn}("->", door.number, frame);
            auto answer = door.answer(frame);
            @{fn}("<-", door.number, answer);
            unsigned cost = answer[3] << 16 | crc(answer);
            if (cost < best)
                best = cost, found = door.number;
        }
        return found;
    }

private:
    void __attribute__((noinline)) @{fn}(const char *way, int door, const std::vector<unsigned char> &frame)
    {
        if (!log_.wants(TRACE))
            return;
        log_.write(TRACE, std::string(way) + " door " + std::to_string(door) + " " + std::to_string(frame.size()) + " bytes");
        for (size_t at = 0; at < frame.size(); at += 16) {
            char text[120];
            int n = snprintf(text, sizeof text, "%s %04zx  ", way, at);
            std::string shown;
            for (size_t i = at; i < std::min(at + 16, frame.size()); i++) {
                n += snprintf(text + n, sizeof text - n, "%02x ", frame[i]);
                shown += frame[i] >= 32 && frame[i] < 127 ? (char)frame[i] : '.';
            }
            log_.write(TRACE, std::string(text, n) + " |" + shown + "|");
        }
    }

    Log &log_;
    std::vector<Door> doors_;
    std::mutex hold_;
};

static void serve(Bus &bus, Log &log, int line)
{
    FILE *in = fdopen(line, "r");
    char asked[200];
    while (fgets(asked, sizeof asked, in)) {
        unsigned order = 0;
        sscanf(asked, "%*s %u", &order);
        int door = bus.free(order);
        log.write(INFO, "order " + std::to_string(order) + " gets door " + std::to_string(door) + " for " + std::to_string(line));
        std::string told = "door " + std::to_string(door) + "\n";
        if (send(line, told.data(), told.size(), MSG_NOSIGNAL) < 0)
            break;
    }
    fclose(in);
}

int main()
{
    std::string level = "@{level}";
    Log log("@{work}/@{log}", level == "TRACE" ? TRACE : level == "INFO" ? INFO : WARN);
    Bus bus(log);
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(@{port});
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, (sockaddr *)&at, sizeof at) < 0 || listen(door, 64) < 0) {
        perror("@{port}");
        return 1;
    }
    for (int line; (line = accept(door, nullptr, nullptr)) >= 0;)
        std::thread(serve, std::ref(bus), std::ref(log), line).detach();
}
