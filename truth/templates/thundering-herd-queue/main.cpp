// Cuts pictures to size: a pool of threads, one queue.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Picture {
    int width;
    Clock::time_point came;
};

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<Picture> pictures;
static long units, edition;
static double busy;

static __attribute__((noinline)) Picture @{fn}(long &mine)
{
    std::unique_lock<std::mutex> hold(mutex);
    while (pictures.empty()) {
        changed.wait(hold);
        mine = edition;
    }
    Picture picture = pictures.front();
    pictures.pop_front();
    return picture;
}

static void worker(int number)
{
    long mine = 0, sum = 0;
    pthread_setname_np(pthread_self(), ("@{thread}-" + std::to_string(number)).c_str());
    for (;;) {
        Picture picture = @{fn}(mine);
        auto start = Clock::now();
        while (since(start) < @{effort} / 1000.0)
            sum = sum * 31 + picture.width;
        std::lock_guard<std::mutex> hold(mutex);
        units += sum ? 1 : 1;
        busy += since(picture.came);
    }
}

int main()
{
    for (int i = 0; i < @{workers}; i++)
        std::thread(worker, i).detach();
    auto began = Clock::now();
    for (long n = 1; since(began) < @{seconds}; n++) {
        std::this_thread::sleep_until(began + std::chrono::microseconds(n * 1000000 / @{rate}));
        std::unique_lock<std::mutex> hold(mutex);
        pictures.push_back({int(n % 500), Clock::now()});
        bool all = !@{one};
        if (@{every} && n % @{every} == 0) {
            edition++;
            all = true;
        }
        hold.unlock();
        if (all)
            changed.notify_all();
        else
            changed.notify_one();
    }
    std::lock_guard<std::mutex> hold(mutex);
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
    _exit(0);
}
