// Keeps the scores of a bowling alley: a thread for each lane shows its players what the pinsetters tell.
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double now()
{
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// The time of the processors that this has taken.
static double used()
{
    rusage all;
    getrusage(RUSAGE_SELF, &all);
    return all.ru_utime.tv_sec + all.ru_stime.tv_sec + (all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e6;
}

struct Bell {
    std::mutex mutex;
    std::condition_variable rings;
};

struct Throw {
    int pins;
    double came;
};

static std::atomic<bool> closing{false};

class Lane {
public:
    long units = 0;
    long late = 0;
    int best = 0;

    explicit Lane(std::shared_ptr<Bell> bell) : bell(std::move(bell)) {}

    __attribute__((noinline)) std::optional<Throw> @{fn}()
    {
        std::unique_lock<std::mutex> hold(bell->mutex);
        while (box.empty() && !closing)
            bell->rings.wait(hold);
        if (box.empty())
            return std::nullopt;
        Throw next = box.front();
        box.pop_front();
        return next;
    }

    __attribute__((noinline)) void @{ring}(Throw next)
    {
        std::lock_guard<std::mutex> hold(bell->mutex);
        box.push_back(next);
        bell->rings.notify_all();
    }

    void play()
    {
        while (auto next = @{fn}()) {
            late += now() - next->came > 0.5;
            rolls.push_back(next->pins);
            best = std::max(best, score());
            if (rolls.size() > 20)
                rolls.clear();
            units++;
        }
    }

    void close()
    {
        std::lock_guard<std::mutex> hold(bell->mutex);
        bell->rings.notify_all();
    }

private:
    std::shared_ptr<Bell> bell;
    std::deque<Throw> box;
    std::vector<int> rolls;

    // The score of the rolls so far, with strikes and spares.
    int score() const
    {
        int sum = 0;
        size_t at = 0;
        auto roll = [this](size_t n) { return n < rolls.size() ? rolls[n] : 0; };
        for (int frame = 0; frame < 10; frame++) {
            int both = roll(at) + roll(at + 1);
            sum += both + (both >= 10 ? roll(at + 2) : 0);
            at += roll(at) == 10 ? 1 : 2;
        }
        return sum;
    }
};

int main()
{
    auto hall = std::make_shared<Bell>();
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<std::thread> threads;
    for (int i = 0; i < @{lanes}; i++) {
        lanes.push_back(std::make_unique<Lane>(@{shared} ? hall : std::make_shared<Bell>()));
        threads.emplace_back(&Lane::play, lanes.back().get());
    }
    int pinsetters = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{0, 300000};
    setsockopt(pinsetters, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (bind(pinsetters, reinterpret_cast<sockaddr *>(&here), sizeof here) < 0)
        return 1;
    double before = used();
    for (double began = now(); now() - began < @{seconds};) {
        char text[64];
        ssize_t got = recv(pinsetters, text, sizeof text - 1, 0);
        int lane, pins;
        text[got > 0 ? got : 0] = 0;
        if (sscanf(text, "%d %d", &lane, &pins) != 2)
            continue;
        Throw next{pins, now()};
        if (lane >= 0)
            lanes.at(lane)->@{ring}(next);
        else
            for (auto &one : lanes)
                one->@{ring}(next);
    }
    closing = true;
    long units = 0;
    double spent = used() - before;
    int best = 0;
    for (size_t i = 0; i < lanes.size(); i++) {
        lanes[i]->close();
        threads[i].join();
        units += lanes[i]->units;
        best = std::max(best, lanes[i]->best);
    }
    printf("best score: %d\n", best);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, spent);
    fclose(out);
    return 0;
}
