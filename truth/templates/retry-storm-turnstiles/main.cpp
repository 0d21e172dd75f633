// The turnstile of a stadium. It reads a visitor's ticket, asks the ticket office by datagram whether it is good, and says which way to go.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

static constexpr int GATE = 4;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Verdict {
    bool good;
    int block;
};

class Office {
public:
    explicit Office(int port) : line(socket(AF_INET, SOCK_DGRAM, 0)) {
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(port);
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(line, reinterpret_cast<sockaddr *>(&there), sizeof there) != 0)
            throw std::runtime_error("no office");
    }
    ~Office() { close(line); }

    __attribute__((noinline)) Verdict @{fn}(int id, int ticket) {
        std::string question = "ticket " + std::to_string(id) + " " + std::to_string(ticket) + " " + std::to_string(GATE);
        std::string key = "ticket " + std::to_string(id) + " ";
        for (double patience = @{patience} / 1000.0;; patience *= @{grows})
            if (std::optional<std::string> answer = once(question, key, patience)) {
                std::istringstream words(*answer);
                std::string word, good;
                int which, block;
                words >> word >> which >> good >> block;
                return {good == "yes", block};
            }
    }

    std::string lamp() {
        return once("lamp " + std::to_string(GATE), "lamp", 1.0).value_or("lamp unknown");
    }

private:
    std::optional<std::string> once(const std::string &question, const std::string &key, double patience) {
        if (send(line, question.data(), question.size(), 0) < 0)
            throw std::runtime_error("the office is gone");
        double until = now() + patience;
        for (double left = patience; left > 0; left = until - now()) {
            timespec limit{static_cast<time_t>(left), static_cast<long>((left - static_cast<time_t>(left)) * 1e9)};
            pollfd heard{line, POLLIN, 0};
            if (ppoll(&heard, 1, &limit, nullptr) < 1)
                continue;
            char text[512];
            ssize_t size = recv(line, text, sizeof text, 0);
            if (size > 0 && std::string(text, size).compare(0, key.size(), key) == 0)
                return std::string(text, size);
        }
        return std::nullopt;
    }

    int line;
};

// The code on a ticket: its last figure proves the others.
static std::string read_code(int number) {
    char figures[16];
    snprintf(figures, sizeof figures, "%09d", number);
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (figures[i] - '0') * (i % 2 ? 3 : 1);
    return figures + std::to_string((10 - sum % 10) % 10);
}

static int check_code(const std::string &code) {
    int number = std::stoi(code.substr(0, code.size() - 1));
    return read_code(number) == code ? number : 0;
}

static std::map<int, std::string> read_blocks(const char *path) {
    std::map<int, std::string> ways;
    std::ifstream in(path);
    for (int block, stair, level; in >> block >> stair >> level;)
        ways[block] = "stair " + std::to_string(stair) + ", level " + std::to_string(level);
    return ways;
}

int main() {
    std::map<int, std::string> ways = read_blocks("@{work}/blocks.txt");
    Office office(@{office});
    long entered = 0, refused = 0;
    int units = 0;
    double busy = 0, culprit = 0, began = now();
    std::string last, lamp;
    while (now() - began < @{seconds}) {
        double start = now();
        int ticket = check_code(read_code(units * 7919L % @{season}));
        double asked = now();
        Verdict verdict = office.@{fn}(units + 1, ticket);
        culprit += now() - asked;
        last = verdict.good ? ways[verdict.block] : "please ask at the desk";
        (verdict.good ? entered : refused)++;
        for (int i = 0; i < @{looks}; i++)
            lamp = office.lamp();
        units++;
        busy += now() - start;
        double rest = began + units / double(@{rate}) - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    fprintf(stderr, "%ld entered, %ld refused, last: %s\n", entered, refused, last.c_str());
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << "}";
}
