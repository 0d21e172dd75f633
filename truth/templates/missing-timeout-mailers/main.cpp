// Sends mails: a queue, mailers that take from it, and a relay for each kind of address.
#include <arpa/inet.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static const auto began = Clock::now();
static double now() { return std::chrono::duration<double>(Clock::now() - began).count(); }

static std::mutex mutex;
static std::condition_variable came;
static std::deque<long> mails;

class Mailer {
    int lines[3] = {-1, -1, -1};

    int line(int relay)
    {
        static const int ports[] = {@{first}, @{second}, @{third}};
        if (lines[relay] >= 0)
            return lines[relay];
        sockaddr_in there{};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
        there.sin_family = AF_INET;
        there.sin_port = htons(ports[relay]);
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        double limit = @{limit};
        if (limit > 0) {
            timeval t{(time_t)limit, (suseconds_t)((limit - (time_t)limit) * 1e6)};
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
        }
        if (connect(fd, (sockaddr *)&there, sizeof there)) {
            close(fd);
            return -1;
        }
        return lines[relay] = fd;
    }

    __attribute__((noinline)) bool @{fn}(int relay, const std::string &mail)
    {
        int fd = line(relay);
        char answer[200];
        if (fd >= 0 && send(fd, mail.data(), mail.size(), MSG_NOSIGNAL) == (ssize_t)mail.size() && recv(fd, answer, sizeof answer, 0) > 0)
            return true;
        close(fd);
        lines[relay] = -1;
        return false;
    }

  public:
    long units = 0;
    double busy = 0, asked = 0;

    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(mutex);
            came.wait(hold, [] { return !mails.empty(); });
            long number = mails.front();
            mails.pop_front();
            double start = asked = now();
            hold.unlock();
            std::string mail = "to customer-" + std::to_string(number) + " " + std::string(300 + number % 700, 'm') + "\n";
            while (!@{fn}(number % 3, mail))
                ;
            hold.lock();
            units++;
            busy += now() - start;
            asked = 0;
        }
    }
};

static void console()
{
    sockaddr_in here{};
    int door = socket(AF_INET, SOCK_STREAM, 0);
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!bind(door, (sockaddr *)&here, sizeof here) && !listen(door, 5))
        close(accept(door, nullptr, nullptr));
}

int main()
{
    static std::vector<Mailer> mailers(@{mailers});
    for (auto &mailer : mailers)
        std::thread(&Mailer::work, &mailer).detach();
    if (@{console})
        std::thread(console).detach();
    for (long n = 1; now() < @{seconds}; n++) {
        {
            std::lock_guard<std::mutex> hold(mutex);
            mails.push_back(n);
        }
        came.notify_one();
        std::this_thread::sleep_until(began + std::chrono::microseconds(n * 1000000 / @{pace}));
    }
    std::lock_guard<std::mutex> hold(mutex);
    long units = 0;
    double busy = 0, hanging = 0;
    for (auto &mailer : mailers) {
        units += mailer.units;
        busy += mailer.busy;
        if (mailer.asked > 0)
            hanging += now() - mailer.asked;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy + hanging, hanging);
    fclose(out);
    _exit(0);
}
