// Quotes baskets: each line is held against the rules of the zone that it goes to; the cheapest one is taken.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Rule {
    std::string name, carrier, terms;
    double base = 0;
    int least = 0;
    std::vector<double> steps;
    std::map<std::string, std::string> extras;
};

struct Line {
    std::string zone;
    int quantity;
};

class Tariff {
    std::unordered_map<std::string, std::vector<Rule>> zones;

  public:
    Tariff()
    {
        for (int zone = 0; zone < @{zones}; zone++) {
            auto &rules = zones["delivery zone " + std::to_string(zone)];
            for (int i = 0; i < @{rules}; i++) {
                Rule rule;
                rule.name = "tariff of zone " + std::to_string(zone) + " number " + std::to_string(i);
                rule.carrier = "carrier with a long name " + std::to_string(i % 5);
                rule.terms = i % 3 ? "ex works" : "delivered, duty paid, within two days of work";
                rule.base = 3 + (zone * 7 + i * 13) % 40 / 10.0;
                rule.least = i % 4;
                for (int step = 0; step < @{steps}; step++)
                    rule.steps.push_back(1 + step * 0.35);
                rule.extras["insurance of the goods"] = std::to_string(i % 9);
                if (i % 2)
                    rule.extras["fuel"] = "2.5 percent of the base price";
                rules.push_back(rule);
            }
        }
    }

    const std::vector<Rule> &of(const std::string &zone) const { return zones.at(zone); }

    std::vector<Rule> __attribute__((noinline)) @{fn}(const std::string &zone, int quantity) const
    {
        std::vector<Rule> found;
        for (Rule rule : of(zone))
            if (rule.least <= quantity)
                found.push_back(rule);
        return found;
    }
};

static double __attribute__((noinline)) price(const Rule &rule, int quantity)
{
    double sum = rule.base;
    for (int round = 0; round < @{rounds}; round++)
        for (double step : rule.steps)
            sum += std::sqrt(step * quantity + round) * 0.01;
    return sum;
}

static double __attribute__((noinline)) @{fn2}(const Tariff &tariff, const std::vector<Line> &basket)
{
    double total = 0;
    for (const Line &line : basket) {
        double best = 1e9;
        if (std::string_view("@{used}") == "copies") {
            for (auto &rule : tariff.@{fn}(line.zone, line.quantity))
                best = std::min(best, price(rule, line.quantity));
        } else {
            for (auto &rule : tariff.of(line.zone))
                if (rule.least <= line.quantity)
                    best = std::min(best, price(rule, line.quantity));
        }
        total += best;
    }
    return total;
}

int main()
{
    Tariff tariff;
    std::mutex lock;
    std::vector<std::thread> workers;
    long units = 0;
    double busy = 0, total = 0;
    auto began = Clock::now();
    for (int number = 0; number < @{workers}; number++)
        workers.emplace_back([&, number] {
            std::vector<Line> basket(@{lines});
            long n = 0;
            double took = 0, sum = 0;
            while (since(began) < @{seconds}) {
                auto start = Clock::now();
                for (size_t i = 0; i < basket.size(); i++)
                    basket[i] = { "delivery zone " + std::to_string((n * 31 + i * 7 + number) % @{zones}), int(1 + (n + i) % 12) };
                sum += @{fn2}(tariff, basket);
                n++;
                took += since(start);
                double rest = n / (double)@{rate} - since(began);
                if (rest > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            }
            std::lock_guard<std::mutex> hold(lock);
            units += n;
            busy += took;
            total += sum;
        });
    for (auto &worker : workers)
        worker.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
    printf("%.2f\n", total);
}
