// Offers: threads look articles up in a shared catalogue that is put in order as it is used.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Tally {
    long units = 0;
    double busy = 0, waited = 0;
};

class Offers {
    std::mutex @{lock};
    std::vector<std::pair<int, int>> ranks = std::vector<std::pair<int, int>>(600);

  public:
    __attribute__((noinline)) void @{fn}(int article, Tally &tally)
    {
        auto asked = Clock::now();
        std::lock_guard<std::mutex> hold(@{lock});
        tally.waited += since(asked);
        auto start = Clock::now();
        ranks[article % ranks.size()].first++;
        while (since(start) < @{work} / 1000.0) {
            std::rotate(ranks.begin(), ranks.begin() + 1, ranks.begin() + 40);
            std::sort(ranks.begin(), ranks.begin() + 40);
        }
    }
};

int main()
{
    Offers offers;
    std::vector<Tally> tallies(@{threads});
    std::vector<std::thread> threads;
    auto began = Clock::now();
    for (int i = 0; i < @{threads}; i++)
        threads.emplace_back([&, i] {
            Tally &tally = tallies[i];
            std::string offer;
            while (since(began) < @{seconds}) {
                auto start = Clock::now();
                offers.@{fn}(i * 131 + tally.units, tally);
                auto written = Clock::now();
                while (since(written) < @{outside} / 1000.0)
                    offer = std::to_string(tally.units) + offer.substr(0, 40);
                tally.units++;
                tally.busy += since(start);
                double rest = tally.units / @{pace} + i * 0.003 - since(began);
                if (rest > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            }
        });
    Tally all;
    for (int i = 0; i < @{threads}; i++) {
        threads[i].join();
        all.units += tallies[i].units;
        all.busy += tallies[i].busy;
        all.waited += tallies[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
