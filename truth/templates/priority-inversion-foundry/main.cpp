// Keeps the zones of an induction furnace at their temperatures. What they did is fitted to curves, for the quality report of the melt.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Zone {
    double target, heat, sum, last, power;
};

class Melt {
public:
    Melt() : zones(@{zones})
    {
        for (size_t i = 0; i < zones.size(); i++)
            zones[i] = { 1350.0 + 12 * i, 900.0 + 31 * i, 0, 0, 0 };
    }

    // One turn of the control: what the sensors say, and the power that follows of it.
    double @{fn2}(long turn, double &waited)
    {
        std::vector<double> measured(zones.size());
        for (size_t i = 0; i < zones.size(); i++) {
            double value = 0;
            for (int step = 1; step <= @{steps}; step++)
                value += std::sin(turn * 0.01 + step * 0.37 + i) / step;
            measured[i] = value;
        }
        auto asked = Clock::now();
        std::lock_guard<std::mutex> held(curve);
        waited += std::chrono::duration<double>(Clock::now() - asked).count();
        double total = 0;
        for (size_t i = 0; i < zones.size(); i++) {
            Zone &zone = zones[i];
            zone.heat += zone.power * 0.2 - (zone.heat - 20) * 0.004 + measured[i];
            double error = zone.target - zone.heat;
            zone.sum = std::fmin(4000, std::fmax(-4000, zone.sum + error * 0.1));
            zone.power = std::fmax(0, 0.4 * error + 0.05 * zone.sum + 0.1 * (error - zone.last));
            zone.last = error;
            total += zone.power;
        }
        return total;
    }

    void report()
    {
        if (@{apart}) {
            std::vector<Zone> copy;
            {
                std::lock_guard<std::mutex> held(curve);
                copy = zones;
            }
            @{fn}(copy);
        } else {
            std::lock_guard<std::mutex> held(curve);
            @{fn}(zones);
        }
    }

private:
    std::mutex curve;
    std::vector<Zone> zones;
    double coefficients[8] = {};

    static double spent()
    {
        timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return t.tv_sec + t.tv_nsec / 1e9;
    }

    // The fit goes on until its time is used up: it gets better with each round.
    __attribute__((noinline)) void @{fn}(const std::vector<Zone> &of)
    {
        double until = spent() + @{hold_ms} / 1000;
        do {
            for (int round = 0; round < 400; round++)
                for (const Zone &zone : of)
                    coefficients[round % 8] += std::sqrt(std::fabs(zone.heat * round - coefficients[(round + 1) % 8])) * 1e-7;
        } while (spent() < until);
    }
};

static void real_time(int level)
{
    sched_param param{};
    param.sched_priority = level;
    if (sched_setscheduler(0, SCHED_FIFO, &param))
        std::perror("real time");
}

int main()
{
    static Melt melt;
    std::thread([] {
        pthread_setname_np(pthread_self(), "@{low}");
        if (@{level}) {
            real_time(@{level});
        } else {
            std::ofstream("/sys/fs/cgroup/cpu/@{slice}/tasks") << syscall(SYS_gettid);
            setpriority(PRIO_PROCESS, 0, 19);
        }
        for (;;) {
            melt.report();
            std::this_thread::sleep_for(std::chrono::milliseconds(@{gap_ms}));
        }
    }).detach();
    real_time(@{realtime});

    long units = 0;
    double busy = 0, waited = 0, power = 0;
    auto began = Clock::now(), due = began;
    while (std::chrono::duration<double>(Clock::now() - began).count() < @{seconds}) {
        due = std::max(due + std::chrono::microseconds((long)(1e6 / @{rate})), Clock::now());
        std::this_thread::sleep_until(due);
        auto start = Clock::now();
        power += melt.@{fn2}(units++, waited);
        busy += std::chrono::duration<double>(Clock::now() - start).count();
    }
    std::printf("%.0f kWh\n", power / 3600);
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << waited << "}";
    std::fflush(nullptr);
    _exit(0);
}
