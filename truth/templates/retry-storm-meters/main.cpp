// The exchange of the taxis: for each ride the authority says what it may cost. A thread for each taxi, with a socket of its own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

static double now() { return Seconds(Clock::now().time_since_epoch()).count(); }

class Taxi {
public:
    explicit Taxi(int number) : number(number), chance(number), line(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(@{port});
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(line, reinterpret_cast<sockaddr *>(&there), sizeof there) != 0) {
            perror("connect");
            exit(1);
        }
    }

    void work() {
        const double begin = now();
        double due = begin;
        for (int ride = 1; now() - begin < @{seconds}; ride++) {
            std::string question = std::to_string(number) + " " + std::to_string(ride) + " " + std::to_string(chance() % @{zones}) + " " +
                                   std::to_string(chance() % @{zones}) + " " + std::string(@{text}, 'r');
            for (int time = 0; time < @{asked}; time++) {
                double start = now();
                @{fn}(ride, question);
                busy += now() - start;
                units++;
                due = std::max(due + 1 / double(@{rate}), now());
                std::this_thread::sleep_for(Seconds(due - now()));
            }
        }
    }

    int units = 0;
    double busy = 0, again = 0;

private:
    // What the ride may cost, in cents.
    __attribute__((noinline)) long @{fn}(int ride, const std::string &question) {
        double repeated = 0;
        for (double patience = @{patience} / 1000.0;; patience *= @{growth}) {
            if (send(line, question.data(), question.size(), 0) < 0)
                usleep(20000);
            const double stop = now() + patience;
            for (double left; (left = stop - now()) > 0;) {
                pollfd entry{line, POLLIN, 0};
                timespec most{time_t(left), long(std::fmod(left, 1) * 1e9)};
                if (ppoll(&entry, 1, &most, nullptr) <= 0)
                    continue;
                char text[256] = {};
                int taxi = 0, of = 0;
                long cents = 0;
                if (recv(line, text, sizeof text - 1, 0) > 0 && sscanf(text, "%d %d %ld", &taxi, &of, &cents) == 3 && taxi == number && of == ride) {
                    if (repeated > 0)
                        again += now() - repeated;
                    return cents;
                }
            }
            if (repeated == 0)
                repeated = now();
        }
    }

    int number;
    std::mt19937 chance;
    int line;
};

int main() {
    std::vector<Taxi> taxis;
    for (int n = 1; n <= @{taxis}; n++)
        taxis.emplace_back(n);
    std::vector<std::thread> threads;
    for (Taxi &taxi : taxis)
        threads.emplace_back(&Taxi::work, &taxi);
    for (std::thread &thread : threads)
        thread.join();
    int units = 0;
    double busy = 0, again = 0;
    for (const Taxi &taxi : taxis) {
        units += taxi.units;
        busy += taxi.busy;
        again += taxi.again;
    }
    FILE *report = fopen("@{report}", "w");
    if (!report)
        return 1;
    fprintf(report, "{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, busy, again);
    return fclose(report);
}
