// Quotes are put together by the main thread and written by another.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Quote {
    long id;
    std::string text;
};

class Writer {
public:
    double busy = 0, writing = 0;
    long units = 0;

    void add(std::vector<Quote> batch)
    {
        std::unique_lock<std::mutex> hold(mutex_);
        changed_.wait(hold, [this] { return waiting_.size() < 2; });
        waiting_.push_back(std::move(batch));
        changed_.notify_all();
    }

    void close()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

    void run()
    {
        for (;;) {
            std::vector<Quote> batch;
            {
                std::unique_lock<std::mutex> hold(mutex_);
                changed_.wait(hold, [this] { return closed_ || !waiting_.empty(); });
                if (waiting_.empty())
                    return;
                batch = std::move(waiting_.front());
                waiting_.pop_front();
                changed_.notify_all();
            }
            auto start = Clock::now();
            @{fn}(batch);
            busy += seconds_since(start);
            units++;
        }
    }

private:
    static std::string path(long n) { return "@{work}/@{outbox}/" + std::to_string(n) + "-@{export}"; }

    void @{fn}(const std::vector<Quote> &batch)
    {
        std::vector<char> room(@{gather} + 8192);
        std::ofstream out;
        out.rdbuf()->pubsetbuf(room.data(), room.size());
        out.open(path(units), std::ios::binary);
        auto start = Clock::now();
        for (const auto &quote : batch) {
            out << quote.id << ';' << quote.text;
            if (@{gather})
                out << '\n';
            else
                out << std::endl;
        }
        out.flush();
        writing += seconds_since(start);
        out.close();
        if (units >= 3)
            std::remove(path(units - 3).c_str());
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::vector<Quote>> waiting_;
    bool closed_ = false;
};

int main()
{
    mkdir("@{work}/@{outbox}", 0755);
    Writer writer;
    std::thread thread(&Writer::run, &writer);
    const double rate = @{load} * 800000.0 / @{lines};
    auto began = Clock::now();
    for (long n = 1; seconds_since(began) < @{seconds}; n++) {
        std::vector<Quote> batch;
        batch.reserve(@{used});
        for (long i = 0; i < @{used}; i++)
            batch.push_back({ (n + i) % 1000, std::string(@{width} - 5, 'a' + i % 20) });
        writer.add(std::move(batch));
        double rest = n / rate - seconds_since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    writer.close();
    thread.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", writer.units, writer.busy, writer.writing);
    return fclose(out);
}
