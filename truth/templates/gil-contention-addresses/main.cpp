// Finds customers who were entered twice: each block of addresses is compared pair by pair, by rules that the branches write in a small
// language. The engine that runs the rules is shared; who wants to run one takes it, and gives it up when another one has waited for a while.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

using namespace std::chrono;

static double now() { return duration<double>(steady_clock::now().time_since_epoch()).count(); }

static double cpu()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

enum Op { ROW, COLUMN, COST, ABOVE, LEFT, LEAST, STORE, NEXT, END };
static const std::vector<Op> rule = {ROW, COLUMN, COST, ABOVE, LEFT, LEAST, STORE, NEXT, END};

class Engine {
public:
    void take()
    {
        std::unique_lock<std::mutex> guard(@{lock});
        while (is_taken) {
            unsigned long then = turn;
            if (came.wait_for(guard, milliseconds(5)) == std::cv_status::timeout && is_taken && turn == then)
                is_wanted = true;
        }
        is_taken = true;
        is_wanted = false;
        turn++;
        changed.notify_all();
    }

    void give()
    {
        std::unique_lock<std::mutex> guard(@{lock});
        is_taken = false;
        came.notify_one();
    }

    // Another one is to come in between.
    void yield()
    {
        std::unique_lock<std::mutex> guard(@{lock});
        unsigned long then = turn;
        is_taken = false;
        came.notify_one();
        changed.wait_for(guard, milliseconds(5), [&] { return turn != then; });
        guard.unlock();
        take();
    }

    volatile bool is_wanted = false;

private:
    std::mutex @{lock};
    std::condition_variable came, changed;
    bool is_taken = false;
    unsigned long turn = 0;
};

// How many strokes lie between two texts: the rule is run for each pair of letters.
__attribute__((noinline)) static int @{fn}(Engine &engine, const std::string &one, const std::string &two)
{
    std::vector<int> before(two.size() + 1), row(two.size() + 1);
    for (size_t j = 0; j <= two.size(); j++)
        before[j] = j;
    size_t i = 0, j = 0;
    int cost = 0, above = 0, left = 0, least = 0;
    for (size_t at = 0; rule[at] != END;) {
        switch (rule[at++]) {
        case ROW: if (j == 0) row[0] = i + 1; break;
        case COLUMN: if (engine.is_wanted) engine.yield(); break;
        case COST: cost = before[j] + (one[i] != two[j]); break;
        case ABOVE: above = before[j + 1] + 1; break;
        case LEFT: left = row[j] + 1; break;
        case LEAST: least = std::min({cost, above, left}); break;
        case STORE: row[j + 1] = least; break;
        case NEXT:
            if (++j == two.size()) {
                j = 0;
                i++;
                std::swap(before, row);
            }
            at = i < one.size() ? 0 : at;
            break;
        case END: break;
        }
    }
    return before[two.size()];
}

struct Address {
    std::string text, town;
};

static std::vector<Address> block(unsigned number)
{
    static const char *first[] = {"Anna", "Jonas", "Mila", "Emil", "Klara", "Oskar", "Lea", "Paul"};
    static const char *last[] = {"Brandt", "Sommer", "Lindqvist", "Okafor", "Petersen", "Yilmaz", "Novak", "Ferrari"};
    static const char *towns[] = {"Lindau", "Rostock", "Fulda", "Aalen", "Emden"};
    std::mt19937 chance(number);
    std::vector<Address> found;
    for (int i = 0; i < @{pairs} * 7; i++) {
        std::string name = std::string(first[chance() % 8]) + " " + last[chance() % 8];
        if (i & 1)
            name.erase(chance() % name.size(), 1);
        found.push_back({name + ", Street " + std::to_string(chance() % @{streets}), towns[chance() % 5]});
    }
    return found;
}

struct Tally {
    long blocks = 0, found = 0;
    double busy = 0, own = 0;
};

static void work(int number, Engine &engine, Tally &tally, double began)
{
    pthread_setname_np(pthread_self(), ("compare-" + std::to_string(number)).c_str());
    while (now() - began < @{seconds}) {
        double due = std::min(began + tally.blocks / static_cast<double>(@{pace}) + number / static_cast<double>(@{pace}) / @{workers}, began + @{seconds});
        if (due > now())
            std::this_thread::sleep_for(duration<double>(due - now()));
        auto addresses = block(tally.blocks * @{workers} + number);
        double start = now(), before = cpu();
        engine.take();
        for (size_t i = 0; i < addresses.size(); i++)
            for (size_t j = i + 1; j < addresses.size(); j++)
                tally.found += @{fn}(engine, addresses[i].text, addresses[j].text) <= 3 && addresses[i].town == addresses[j].town;
        engine.give();
        tally.blocks++;
        tally.busy += now() - start;
        tally.own += cpu() - before;
    }
}

int main()
{
    const bool is_shared = std::string("@{crew}") == "threads";
    std::vector<std::unique_ptr<Engine>> engines;
    std::vector<Tally> tallies(@{workers});
    std::vector<std::thread> crew;
    double began = now();
    for (int number = 0; number < @{workers}; number++) {
        if (!is_shared || engines.empty())
            engines.push_back(std::make_unique<Engine>());
        crew.emplace_back(work, number, std::ref(*engines.back()), std::ref(tallies[number]), began);
    }
    Tally all;
    for (int number = 0; number < @{workers}; number++) {
        crew[number].join();
        all.blocks += tallies[number].blocks;
        all.found += tallies[number].found;
        all.busy += tallies[number].busy;
        all.own += tallies[number].own;
    }
    std::ofstream("@{report}") << "{\"units\": " << all.blocks << ", \"seconds\": " << all.busy << ", \"culprit\": " << all.busy - all.own << "}";
    printf("%ld doubles\n", all.found);
}
