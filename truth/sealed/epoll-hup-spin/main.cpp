// Averages of stations: readers in threads, a loop that is told by an eventfd that there is something new.
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Mailbox {
    std::mutex mutex;
    std::vector<double> values;
    int event = eventfd(0, EFD_NONBLOCK);

  public:
    int fd() const { return event; }

    void put(double value)
    {
        {
            std::lock_guard<std::mutex> hold(mutex);
            values.push_back(value);
        }
        uint64_t one = 1;
        if (write(event, &one, sizeof one) < 0)
            perror("eventfd");
    }

    std::vector<double> __attribute__((noinline)) @{fn}()
    {
        uint64_t count;
        if (@{tidy} && read(event, &count, sizeof count) < 0)
            return {};
        std::lock_guard<std::mutex> hold(mutex);
        return std::move(values);
    }
};

static void station(Mailbox &box)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (sockaddr *)&address, sizeof address))
        exit(1);
    char text[512];
    ssize_t n;
    while ((n = read(fd, text, sizeof text - 1)) > 0) {
        text[n] = 0;
        if (text[0] == 'v')
            box.put(atof(text + 6));
    }
    close(fd);
}

int main()
{
    Mailbox box;
    int poller = epoll_create1(0);
    epoll_event wanted = {};
    wanted.events = EPOLLIN;
    epoll_ctl(poller, EPOLL_CTL_ADD, box.fd(), &wanted);
    for (int i = 0; i < @{stations}; i++)
        std::thread(station, std::ref(box)).detach();
    auto began = Clock::now();
    double busy = 0, culprit = 0, average = 0;
    long units = 0;
    while (since(began) < @{seconds}) {
        auto asked = Clock::now();
        epoll_event event;
        if (epoll_wait(poller, &event, 1, 1000) <= 0)
            continue;
        auto values = box.@{fn}();
        if (values.empty() && !@{tidy}) {
            culprit += since(asked);
            busy += since(asked);
        }
        for (double value : values) {
            auto start = Clock::now();
            while (since(start) < @{effort} / 1000.0)
                average = average * 0.999 + value * 0.001;
            units++;
            busy += since(start);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    _exit(average == 42);
}
