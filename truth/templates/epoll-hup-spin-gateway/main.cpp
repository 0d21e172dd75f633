// A gateway: quotes are answered at once; a report is made by another service, and the connection waits for it.
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Client {
    int fd;
    bool busy = false, gone = false;
    std::string in;
};

struct Job {
    Client *client;
    std::string text;
};

static std::mutex mutex;
static std::condition_variable came;
static std::deque<Job> jobs, done;
static int loop, wake;
static std::map<long, double> prices;
/* Ended in this turn: an event of the same turn may still name them. */
static std::vector<Client *> ended;

static sockaddr_in local(int port)
{
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

static void reporter()
{
    sockaddr_in there = local(@{service});
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (sockaddr *)&there, sizeof there))
        return;
    for (;;) {
        std::unique_lock<std::mutex> hold(mutex);
        came.wait(hold, [] { return !jobs.empty(); });
        Job job = jobs.front();
        jobs.pop_front();
        hold.unlock();
        std::string ask = "watch " + job.text + "\n", answer;
        char part[4096];
        if (write(fd, ask.data(), ask.size()) < 0)
            return;
        while (answer.empty() || answer.back() != '\n') {
            ssize_t got = read(fd, part, sizeof part);
            if (got <= 0)
                return;
            answer.append(part, got);
        }
        hold.lock();
        done.push_back({job.client, answer});
        hold.unlock();
        eventfd_write(wake, 1);
    }
}

static void listen_to(Client *client, int how, unsigned events)
{
    epoll_event event{};
    event.events = events;
    event.data.ptr = client;
    epoll_ctl(loop, how, client->fd, &event);
}

static void drop(Client *client)
{
    close(client->fd);
    client->fd = -1;
    ended.push_back(client);
}

static void quote(Client *client, long number)
{
    auto start = Clock::now();
    double price = 1;
    while (Clock::now() - start < std::chrono::duration<double, std::milli>(@{effort}))
        for (int i = 0; i < 50; i++)
            price = price * 1.0001 + number % 7;
    std::string answer = "quote " + std::to_string(prices[number % 500] + price) + "\n";
    if (write(client->fd, answer.data(), answer.size()) < 0)
        client->gone = true;
}

static bool obey(Client *client)
{
    char part[4096];
    ssize_t got = read(client->fd, part, sizeof part);
    if (got == 0 || (got < 0 && errno != EAGAIN))
        return false;
    if (got > 0)
        client->in.append(part, got);
    size_t end;
    while (!client->busy && (end = client->in.find('\n')) != std::string::npos) {
        std::string text = client->in.substr(0, end);
        client->in.erase(0, end + 1);
        if (text.compare(0, 4, "get ") == 0)
            quote(client, atol(text.c_str() + 4));
        else if (text.compare(0, 4, "put ") == 0)
            prices[atol(text.c_str() + 4) % 500] = 17.25;
        else {
            // Nothing more of this one until its report is there.
            client->busy = true;
            listen_to(client, EPOLL_CTL_MOD, 0);
            std::lock_guard<std::mutex> hold(mutex);
            jobs.push_back({client, text});
            came.notify_one();
        }
    }
    return !client->gone;
}

static void deliver()
{
    eventfd_t count;
    eventfd_read(wake, &count);
    std::deque<Job> ready;
    {
        std::lock_guard<std::mutex> hold(mutex);
        ready.swap(done);
    }
    for (Job &job : ready) {
        Client *client = job.client;
        client->busy = false;
        if (client->gone || send(client->fd, job.text.data(), job.text.size(), MSG_NOSIGNAL) < 0)
            drop(client);
        else
            listen_to(client, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static void __attribute__((noinline)) @{fn}(epoll_event &event, int door)
{
    Client *client = (Client *)event.data.ptr;
    if (client->fd < 0)
        return;
    if (client->fd == wake) {
        deliver();
    } else if (client->fd == door) {
        int fd;
        while ((fd = accept4(door, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
            int one = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            listen_to(new Client{fd}, EPOLL_CTL_ADD, EPOLLIN);
        }
    } else if (@{watch} && client->busy && event.events & (EPOLLHUP | EPOLLERR)) {
        client->gone = true;
        epoll_ctl(loop, EPOLL_CTL_DEL, client->fd, nullptr);
    } else if (event.events & EPOLLIN && !client->busy && !obey(client)) {
        drop(client);
    }
}

int main()
{
    int door = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    sockaddr_in here = local(@{port});
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (sockaddr *)&here, sizeof here) || listen(door, 100))
        return 1;
    loop = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    listen_to(new Client{door}, EPOLL_CTL_ADD, EPOLLIN);
    listen_to(new Client{wake}, EPOLL_CTL_ADD, EPOLLIN);
    for (int i = 0; i < 10; i++)
        std::thread(reporter).detach();
    std::vector<epoll_event> events(64);
    for (;;) {
        int n = epoll_wait(loop, events.data(), events.size(), 1000);
        for (int i = 0; i < n; i++)
            @{fn}(events[i], door);
        for (Client *client : ended)
            delete client;
        ended.clear();
    }
}
