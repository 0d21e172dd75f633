// The fare engine of a ferry line: what a booking costs, by the rules of its route.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static const std::string detail = "@{detail}", sending = "@{send}";
static const char *KINDS[] = {"adult", "child", "senior", "resident", "car", "van", "trailer", "bicycle", "dog", "cabin"};

class Metrics {
public:
    Metrics() : line_(socket(AF_INET, SOCK_DGRAM, 0)), due_(Clock::now())
    {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(@{stats});
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect(line_, (sockaddr *)&to, sizeof to);
    }

    void count(const std::string &name)
    {
        if (sending == "each")
            @{fn}("ferry.fares." + name + ":1|c");
        else
            counts_[name]++;
    }

    void __attribute__((noinline)) @{fn}(const std::string &text)
    {
        auto start = Clock::now();
        if (send(line_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
            lost_++;
        spent += since(start);
    }

    void tick(Clock::time_point now)
    {
        if (counts_.empty() || now < due_)
            return;
        due_ = now + std::chrono::milliseconds(long(1000 * @{period}));
        std::string text;
        for (auto &[name, n] : counts_) {
            text += "ferry.fares." + name + ":" + std::to_string(n) + "|c\n";
            if (text.size() > 1300) {
                @{fn}(text);
                text.clear();
            }
        }
        if (!text.empty())
            @{fn}(text);
        counts_.clear();
    }

    double spent = 0;

private:
    int line_;
    long lost_ = 0;
    Clock::time_point due_;
    std::unordered_map<std::string, long> counts_;
};

struct Rule {
    std::string name;
    std::vector<double> steps;

    explicit Rule(int number) : name(std::string("rule.") + KINDS[number % 10] + "." + std::to_string(number / 10))
    {
        for (int i = 0; i < @{effort}; i++)
            steps.push_back(0.9 + (number * 7 + i * 13) % 20 / 100.0);
    }

    double apply(double price, double season) const
    {
        for (double step : steps)
            price = price * step + season;
        return std::min(std::max(price, 1.0), 900.0);
    }
};

class Fares {
public:
    explicit Fares(Metrics &metrics) : metrics_(metrics)
    {
        for (int number = 0; number < @{rules}; number++)
            rules_.emplace_back(number);
    }

    void price(long booking)
    {
        double total = 0, base = 20 + booking % 37, season = 0.2 + booking % 5 / 10.0;
        for (auto &rule : rules_) {
            total += rule.apply(base, season) / rules_.size();
            if (detail == "rule")
                metrics_.count(rule.name);
        }
        if (detail == "booking")
            metrics_.count("booking");
        taken_[booking % 48] += total;
    }

    double taken() const
    {
        double all = 0;
        for (auto &[sailing, sum] : taken_)
            all += sum;
        return all;
    }

private:
    Metrics &metrics_;
    std::vector<Rule> rules_;
    std::map<int, double> taken_;
};

int main()
{
    Metrics metrics;
    Fares fares(metrics);
    auto began = Clock::now(), due = began;
    double busy = 0;
    long units = 0;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        fares.price(++units);
        metrics.tick(start);
        busy += since(start);
        auto now = Clock::now();
        due = std::max(due + std::chrono::microseconds(long(1e6 / @{rate})), now);
        if (due > now + std::chrono::microseconds(500))
            std::this_thread::sleep_until(due);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"taken\": %.0f}", units, busy, metrics.spent, fares.taken());
    return fclose(out);
}
