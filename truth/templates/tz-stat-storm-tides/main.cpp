// Sums the hours of a tide power station up by the local day, for its bills: which hours are dear is a matter of local time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Hour {
    int day, hour;
};

__attribute__((noinline)) static void @{fn}(std::time_t first, std::vector<Hour> &hours)
{
    for (size_t i = 0; i < hours.size(); i++) {
        if (i % @{every} == 0) {
            const std::time_t at = first + static_cast<std::time_t>(i) * 3600;
            const std::tm *local = std::localtime(&at);
            hours[i] = {local->tm_yday, local->tm_hour};
        } else {
            hours[i] = {hours[i - 1].day + hours[i - 1].hour / 23, (hours[i - 1].hour + 1) % 24};
        }
    }
}

static double bill(const std::vector<Hour> &hours, unsigned turbine)
{
    double euros = 0;
    std::vector<double> days(800);
    for (size_t i = 0; i < hours.size(); i++) {
        const double kwh = 40 + (i * 7 + turbine * 13) % 90;
        days[static_cast<size_t>(hours[i].day) % days.size()] += kwh * (hours[i].hour > 6 && hours[i].hour < 21 ? 0.11 : 0.07);
    }
    for (double day : days)
        euros += day;
    return euros;
}

int main()
{
    const std::string zone = "@{zone}";
    if (!zone.empty())
        setenv("TZ", zone.c_str(), 1);
    std::vector<Hour> hours(@{hours});
    const auto begin = Clock::now();
    Seconds busy{0}, times{0};
    unsigned bills = 0;
    double euros = 0;
    while (Seconds(Clock::now() - begin).count() < @{seconds}) {
        const auto start = Clock::now();
        @{fn}(1780000000 + bills % 200 * 86400, hours);
        times += Clock::now() - start;
        euros += bill(hours, bills++);
        busy += Clock::now() - start;
        std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(Seconds(1 / @{per_s})));
    }
    std::FILE *report = std::fopen("@{report}", "w");
    if (!report)
        return 1;
    std::fprintf(report, "{\"units\": %u, \"seconds\": %f, \"culprit\": %f, \"euros\": %f}\n", bills, busy.count(), times.count(), euros);
    return std::fclose(report) != 0;
}
