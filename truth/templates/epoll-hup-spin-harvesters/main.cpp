#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

class Machine {
public:
    explicit Machine(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(fd_, reinterpret_cast<sockaddr *>(&to), sizeof to))
            perror("connect");
        send(fd_, "board\n", 6, 0);
    }
    ~Machine() { close(fd_); }
    int fd() const { return fd_; }
    long sum() const { return sum_; }

    /* False when there will be no more. */
    bool take(long &readings)
    {
        char part[4096];
        ssize_t n = recv(fd_, part, sizeof part, MSG_DONTWAIT);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        text_.append(part, n);
        size_t from = 0;
        for (size_t end; (end = text_.find('\n', from)) != std::string::npos; from = end + 1, readings++)
            reading(text_.substr(from, end - from));
        text_.erase(0, from);
        return true;
    }

private:
    void reading(const std::string &line)
    {
        last_.push_back(std::atoi(line.c_str() + line.find(' ') + 1));
        sum_ += last_.back();
        if (last_.size() > @{window}) {
            sum_ -= last_.front();
            last_.pop_front();
        }
    }

    int fd_;
    long sum_ = 0;
    std::string text_;
    std::deque<int> last_;
};

class Board {
public:
    void add(int port)
    {
        machines_.push_back(std::make_unique<Machine>(port));
        epoll_event e{};
        e.events = EPOLLIN | EPOLLRDHUP;
        e.data.ptr = machines_.back().get();
        epoll_ctl(poll_, EPOLL_CTL_ADD, machines_.back()->fd(), &e);
    }

    void __attribute__((noinline)) @{fn}(const epoll_event &e)
    {
        auto *m = static_cast<Machine *>(e.data.ptr);
        if (@{tidy} && (e.events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP))) {
            while (m->take(readings)) { }
            epoll_ctl(poll_, EPOLL_CTL_DEL, m->fd(), nullptr);
            machines_.erase(std::remove_if(machines_.begin(), machines_.end(), [m](const auto &one) { return one.get() == m; }), machines_.end());
            return;
        }
        if (e.events & EPOLLIN)
            m->take(readings);
    }

    int wait(int ms)
    {
        int count = epoll_wait(poll_, events_, 32, ms);
        auto start = Clock::now();
        for (int i = 0; i < count; i++)
            @{fn}(events_[i]);
        busy += since(start);
        return count;
    }

    long readings = 0;
    double busy = 0;

private:
    int poll_ = epoll_create1(0);
    epoll_event events_[32];
    std::vector<std::unique_ptr<Machine>> machines_;
};

int main()
{
    Board board;
    for (int i = 0; i < @{machines}; i++)
        board.add(@{barn});
    board.add(@{fields});
    auto began = Clock::now();
    for (double left; (left = @{seconds} - since(began)) > 0;)
        board.wait(left < 0.5 ? static_cast<int>(left * 1000) + 1 : 500);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", board.readings, board.busy);
    fclose(out);
    return 0;
}
