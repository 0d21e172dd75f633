// The raffle of a fair: tills sell tickets in step with the show's bell; no two tickets of a drum may be too alike.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Drum {
    std::mutex guard;
    std::vector<uint64_t> tickets;
    size_t next = 0;
};

static int alike(uint64_t one, uint64_t other)
{
    int same = 0;
    for (uint64_t rest = ~(one ^ other); rest; rest &= rest - 1)
        same++;
    return same;
}

// Books a ticket in its drum, if none there is too much like it. The seconds until the drum was free are added to `waited`.
__attribute__((noinline)) static bool @{fn}(Drum &drum, uint64_t ticket, double &waited)
{
    auto asked = Clock::now();
    std::lock_guard<std::mutex> hold(drum.guard);
    waited += since(asked);
    int worst = 0;
    for (uint64_t other : drum.tickets) {
        int same = alike(ticket, other);
        if (same > worst)
            worst = same;
    }
    drum.tickets[drum.next++ % drum.tickets.size()] = ticket;
    return worst < 60;
}

static uint64_t draw(uint64_t &state)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// How many tickets can be looked at in a millisecond here.
static double speed()
{
    uint64_t state = 88172645463325252ull, sum = 0;
    std::vector<uint64_t> sample(4096);
    for (auto &ticket : sample)
        ticket = draw(state);
    double best = 1e9;
    for (int turn = 0; turn < 12; turn++) {
        auto start = Clock::now();
        for (uint64_t other : sample)
            sum += alike(sample[turn], other);
        best = std::min(best, since(start) + (sum == 1));
    }
    return sample.size() / best / 1000;
}

struct Till {
    long units = 0;
    double busy = 0, waited = 0;
    std::string last;
};

int main()
{
    std::vector<Drum> drums(@{drums});
    uint64_t state = 0x9E3779B97F4A7C15ull;
    size_t each = size_t(speed() * @{look} / drums.size()) + 1;
    for (Drum &drum : drums)
        for (size_t i = 0; i < each; i++)
            drum.tickets.push_back(draw(state));

    std::vector<Till> tills(@{tills});
    std::vector<std::thread> people;
    auto began = Clock::now();
    for (size_t number = 0; number < tills.size(); number++)
        people.emplace_back([&, number] {
            Till &till = tills[number];
            uint64_t mine = 1000003 * (number + 1);
            while (since(began) < @{seconds}) {
                auto start = Clock::now();
                uint64_t ticket = draw(mine);
                bool sold = @{fn}(drums[ticket % drums.size()], ticket, till.waited);
                till.last = sold ? "ticket" : "again";
                for (int word = 0; word < @{words}; word++)
                    till.last += " " + std::to_string(ticket >> word);
                till.units++;
                till.busy += since(start);
                std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(till.units * @{tick} / 1000)));
            }
        });
    for (auto &one : people)
        one.join();
    Till all;
    for (Till &till : tills) {
        all.units += till.units;
        all.busy += till.busy;
        all.waited += till.waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
