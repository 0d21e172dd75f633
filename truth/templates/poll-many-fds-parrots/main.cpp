// The post of an aviary: hears at each nest what its parrot says, and keeps what is loud.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static double clock_of(clockid_t which)
{
    timespec t;
    clock_gettime(which, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static sockaddr_un at_path(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
}

class Post {
    std::vector<pollfd> nests;
    std::map<std::string, double> loudest;
    int list = -1, voice = socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un parrots = at_path("@{work}/parrots.sock");

public:
    long units = 0;
    double polling = 0;

    explicit Post(int count)
    {
        if (@{epoll})
            list = epoll_create1(EPOLL_CLOEXEC);
        for (int i = 0; i < count; i++) {
            int nest = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
            sockaddr_un address = at_path("@{work}/@{nests}/nest-" + std::to_string(i));
            if (nest < 0 || bind(nest, reinterpret_cast<sockaddr *>(&address), sizeof address) < 0)
                throw std::runtime_error(std::strerror(errno));
            nests.push_back({nest, POLLIN, 0});
            epoll_event event{EPOLLIN, {.fd = nest}};
            if (list >= 0)
                epoll_ctl(list, EPOLL_CTL_ADD, nest, &event);
        }
    }

    std::vector<int> __attribute__((noinline)) @{fn}()
    {
        // What it costs, not how long the parrots are silent.
        double start = clock_of(CLOCK_THREAD_CPUTIME_ID);
        std::vector<int> ready;
        if (list >= 0) {
            epoll_event events[64];
            int n = epoll_wait(list, events, 64, 500);
            for (int i = 0; i < n; i++)
                ready.push_back(events[i].data.fd);
        } else {
            int n = poll(nests.data(), nests.size(), 500);
            for (size_t i = 0; n > 0 && i < nests.size(); i++)
                if (nests[i].revents) {
                    ready.push_back(nests[i].fd);
                    n--;
                }
        }
        polling += clock_of(CLOCK_THREAD_CPUTIME_ID) - start;
        return ready;
    }

    void hear(int nest)
    {
        char text[256];
        ssize_t n;
        while ((n = recv(nest, text, sizeof text - 1, 0)) > 0) {
            text[n] = 0;
            int number;
            char word[64];
            double loud, pitch, wave = 0;
            if (sscanf(text, "%d %63s %lf %lf", &number, word, &loud, &pitch) != 4)
                continue;
            for (int i = 0; i < @{rounds} * 20; i++)
                wave += std::sin(pitch * i / 8000.0) * loud / (i + 1);
            double &most = loudest[word];
            most = std::max(most, loud + wave / 1000);
            std::string heard = std::to_string(number) + (loud < most ? " heard" : " louder");
            sendto(voice, heard.data(), heard.size(), 0, reinterpret_cast<sockaddr *>(&parrots), sizeof parrots);
            units++;
        }
    }
};

int main()
{
    rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    Post post(@{count});
    double handling = 0, end = clock_of(CLOCK_MONOTONIC) + @{seconds};
    while (clock_of(CLOCK_MONOTONIC) < end) {
        auto ready = post.@{fn}();
        double start = clock_of(CLOCK_MONOTONIC);
        for (int nest : ready)
            post.hear(nest);
        handling += clock_of(CLOCK_MONOTONIC) - start;
    }
    std::ofstream("@{report}") << "{\"units\": " << post.units << ", \"seconds\": " << handling + post.polling << ", \"culprit\": " << post.polling << "}";
}
