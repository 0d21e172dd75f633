// Turns a crystal by steps, counts at each, and looks where the reflex is.
#include <atomic>
#include <chrono>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
static std::atomic<int> lamp;

class Motors {
    int line;

  public:
    double waited = 0;

    explicit Motors(const char *path)
    {
        sockaddr_un where = {AF_UNIX, ""};
        snprintf(where.sun_path, sizeof where.sun_path, "%s", path);
        line = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(line, reinterpret_cast<sockaddr *>(&where), sizeof where))
            throw std::runtime_error("no motors");
    }

    __attribute__((noinline)) std::string @{fn}()
    {
        std::string answer;
        char part[256];
        const int how = std::string("@{way}") == "look" ? MSG_DONTWAIT : 0;
        while (answer.empty() || answer.back() != '\n') {
            ssize_t n = recv(line, part, sizeof part, how);
            if (n > 0)
                answer.append(part, n);
            else if (n == 0 || errno != EAGAIN)
                throw std::runtime_error("the motors are gone");
            else
                usleep(@{period} * 1000);
        }
        return answer;
    }

    double ask(const std::string &command)
    {
        auto start = Clock::now();
        if (send(line, command.data(), command.size(), 0) < 0)
            throw std::runtime_error("the motors are gone");
        std::string answer = @{fn}();
        waited += since(start);
        return atof(answer.c_str() + answer.find(' '));
    }
};

// The middle of the peak that lies best below the counts.
static double fit(double angle, double counts)
{
    double best = 1e300, where = angle;
    for (int i = 0; i < @{points} * 20; i++) {
        double middle = angle + (i - @{points} * 10) / 1e4, sum = 0;
        for (int k = -12; k <= 12; k++) {
            double expected = counts * std::exp(-k * k / 18.0);
            double seen = counts * std::exp(-std::pow(k + (middle - angle) * 40, 2) / 18.0);
            sum += (expected - seen) * (expected - seen);
        }
        if (sum < best) {
            best = sum;
            where = middle;
        }
    }
    return where;
}

int main()
{
    if (@{lamp})
        std::thread([] {
            while (true) {
                usleep(@{beat} * 1000);
                lamp ^= 1;
            }
        }).detach();
    Motors motors("@{work}/@{sock}");
    long units = 0;
    double busy = 0, sum = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        char command[64];
        snprintf(command, sizeof command, "MOVE theta %.3f\n", std::fmod(units * 0.05, 90));
        double at = motors.ask(command);
        sum += fit(at, motors.ask("COUNT 0\n"));
        units++;
        busy += since(start);
        double rest = units / double(@{rate}) - since(began);
        if (rest > 0)
            usleep(rest * 1e6);
    }
    printf("%f\n", sum);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, motors.waited);
    fclose(out);
    exit(0);
}
