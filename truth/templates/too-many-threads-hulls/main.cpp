// Says before a voyage in which of its load cases the ship would not right itself.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

struct Righting {
    double lever, there, taken;
};

// The area under the curve of righting levers, frame by frame.
__attribute__((noinline)) static double @{fn}(int voyage, int number)
{
    double area = 0, draught = 6.5 + voyage % 7 * 0.2 + number % 11 * 0.15;
    for (int angle = 0; angle < @{angles}; angle++) {
        double heel = angle * M_PI / 3 / @{angles}, lever = 0;
        for (int frame = 0; frame < @{frames}; frame++) {
            double breadth = 16 * std::sin(M_PI * (frame + 0.5) / @{frames}), wet = 0;
            for (int line = 0; line < 12; line++) {
                double height = draught * line / 12 + breadth * 0.5 * heel;
                wet += std::sqrt(1 + height * height) * breadth / (1 + height);
            }
            lever += wet * heel - 0.3 * heel * heel * wet;
        }
        area += lever / @{frames};
    }
    return area;
}

class Office {
public:
    explicit Office(int threads)
    {
        for (int i = 0; i < threads; i++)
            calculators_.emplace_back([this] { work(); });
    }

    ~Office()
    {
        {
            std::lock_guard hold(lock_);
            closed_ = true;
        }
        some_.notify_all();
        for (auto &one : calculators_)
            one.join();
    }

    std::vector<std::future<Righting>> order(int voyage)
    {
        std::vector<std::future<Righting>> asked;
        auto at = Clock::now();
        {
            std::lock_guard hold(lock_);
            for (int number = 0; number < @{pool}; number++) {
                orders_.emplace_back([voyage, number, at] {
                    auto from = Clock::now();
                    std::this_thread::sleep_for(std::chrono::milliseconds(@{probe_ms}));
                    double lever = @{fn}(voyage, number);
                    return Righting{lever, since(at), since(from) - @{probe_ms} / 1000.0};
                });
                asked.push_back(orders_.back().get_future());
            }
        }
        some_.notify_all();
        return asked;
    }

private:
    void work()
    {
        std::unique_lock hold(lock_);
        for (;;) {
            some_.wait(hold, [this] { return closed_ || !orders_.empty(); });
            if (orders_.empty())
                return;
            auto next = std::move(orders_.front());
            orders_.pop_front();
            hold.unlock();
            next();
            hold.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable some_;
    std::deque<std::packaged_task<Righting()>> orders_;
    std::vector<std::thread> calculators_;
    bool closed_ = false;
};

int main()
{
    double usual = 1e9, seconds = 0, waited = 0;
    long units = 0;
    for (int i = 0; i < 8; i++) {
        auto from = Clock::now();
        volatile double lever = @{fn}(0, i);
        (void)lever;
        usual = std::min(usual, since(from));
    }
    Office office(@{threads});
    auto began = Clock::now();
    for (int voyage = 0; since(began) < @{seconds}; voyage++) {
        double worst = 1e9;
        for (auto &one : office.order(voyage)) {
            Righting righting = one.get();
            worst = std::min(worst, righting.lever);
            seconds += righting.there;
            waited += std::max(0.0, righting.taken - usual);
            units++;
        }
        std::printf("voyage %d: %.2f\n", voyage, worst);
        std::this_thread::sleep_for(std::chrono::duration<double>((voyage + 1) / @{rate} - since(began)));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << seconds << ", \"culprit\": " << waited << "}";
}
