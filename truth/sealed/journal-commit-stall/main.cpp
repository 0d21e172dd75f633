#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <unistd.h>

// A mail store: each deliverer puts its letters into a box; a thread takes a snapshot of the search index from time to time.
using Clock = std::chrono::steady_clock;

static std::atomic<bool> over{false};
static std::mutex guard;
static double busy, waited;
static long units;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static void pause_ms(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static void __attribute__((noinline)) @{fn}()
{
    std::vector<char> block(1 << 16, 'i');
    int file = open("@{place}/@{snapshot}", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (long written = 0; written < @{kb} * 1024L; written += block.size())
        if (write(file, block.data(), block.size()) < 0)
            perror("@{snapshot}");
    fsync(file);
    close(file);
}

static double put_letter(const std::string &path, const std::string &text)
{
    int file = open((path + ".new").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(file, text.data(), text.size()) < 0)
        perror(path.c_str());
    auto start = Clock::now();
    fsync(file);
    double took = since(start);
    close(file);
    rename((path + ".new").c_str(), path.c_str());
    return took;
}

static void deliver(int box)
{
    pthread_setname_np(pthread_self(), "deliver");
    std::string text(@{bytes}, 'l');
    pause_ms(box * 37);
    for (int number = 0; !over; number++) {
        auto start = Clock::now();
        double took = put_letter("@{work}/@{volume}/box" + std::to_string(box) + "-" + std::to_string(number % 50), text);
        {
            std::lock_guard<std::mutex> hold(guard);
            busy += since(start);
            waited += took;
            units++;
        }
        pause_ms(1000 / @{rate});
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int box = 0; box < @{workers}; box++)
        threads.emplace_back(deliver, box);
    threads.emplace_back([] {
        pthread_setname_np(pthread_self(), "snapshots");
        while (!over) {
            @{fn}();
            pause_ms(@{rest_ms});
        }
    });
    std::this_thread::sleep_for(std::chrono::duration<double>(@{seconds}));
    over = true;
    for (auto &thread : threads)
        thread.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, waited);
    fclose(out);
}
