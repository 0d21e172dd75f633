#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

// Keeps the frames of a camera in a ring, which is a file in memory, for those who look at them later.
using Clock = std::chrono::steady_clock;
constexpr size_t RING = 40u << 20, FRAME = @{kb} * 1000u;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Ring {
    char *memory;
    size_t at = 0;

public:
    explicit Ring(const char *path)
    {
        int file = open(path, O_RDWR | O_CREAT, 0600);
        if (file < 0 || posix_fallocate(file, 0, RING))
            throw std::runtime_error(path);
        memory = static_cast<char *>(mmap(nullptr, RING, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        close(file);
    }

    void __attribute__((noinline)) @{fn}(const std::vector<char> &frame)
    {
        if (at + frame.size() > RING)
            at = 0;
        memcpy(memory + at, frame.data(), frame.size());
        at += frame.size();
    }
};

static long __attribute__((noinline)) brightness(const std::vector<char> &frame)
{
    long sum = 0;
    for (int round = 0; round < @{rounds}; round++)
        sum += std::accumulate(frame.begin(), frame.end(), round);
    return sum;
}

int main()
{
    Ring ring("@{work}/@{volume}/@{export}");
    std::mutex guard;
    std::condition_variable came;
    std::queue<std::vector<char>> frames;
    bool over = false;

    std::thread camera([&] {
        auto began = Clock::now(), due = began;
        for (int number = 0; since(began) < @{seconds}; number++) {
            {
                std::lock_guard<std::mutex> hold(guard);
                // Frames that nobody can take are lost.
                if (frames.size() < 2)
                    frames.emplace(FRAME, static_cast<char>(number));
            }
            came.notify_one();
            due += std::chrono::microseconds(long(1e6 / @{per_s}));
            if (due > began + std::chrono::duration<double>(@{seconds}))
                due = std::chrono::time_point_cast<Clock::duration>(began + std::chrono::duration<double>(@{seconds}));
            std::this_thread::sleep_until(due);
        }
        std::lock_guard<std::mutex> hold(guard);
        over = true;
        came.notify_one();
    });

    long units = 0, light = 0;
    double busy = 0, spent = 0;
    for (;;) {
        std::unique_lock<std::mutex> hold(guard);
        came.wait(hold, [&] { return over || !frames.empty(); });
        if (over)
            break;
        auto frame = std::move(frames.front());
        frames.pop();
        hold.unlock();
        auto start = Clock::now();
        light += brightness(frame);
        auto before = Clock::now();
        ring.@{fn}(frame);
        spent += since(before);
        busy += since(start);
        units++;
    }
    camera.join();
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << ", \"light\": " << light << "}";
}
