#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

static double culprit, busy;
static long units;
static unsigned sum;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* Tenants whose outbox is to be looked at. */
class Queue {
public:
    void push(long tenant)
    {
        std::lock_guard<std::mutex> guard(lock);
        tenants.push_back(tenant);
        changed.notify_one();
    }
    long pop()
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [this] { return !tenants.empty(); });
        long tenant = tenants.front();
        tenants.pop_front();
        return tenant;
    }
    bool is_empty()
    {
        std::lock_guard<std::mutex> guard(lock);
        return tenants.empty();
    }

private:
    std::mutex lock;
    std::condition_variable changed;
    std::deque<long> tenants;
};

static std::vector<fs::path> __attribute__((noinline)) @{fn}(const fs::path &folder)
{
    std::vector<fs::path> all, found;
    if (@{each}) {
        for (const auto &entry : fs::directory_iterator(folder))
            all.push_back(entry.path());
        double asked = now();
        for (const auto &path : all)
            if (fs::is_regular_file(path))
                found.push_back(path);
        culprit += now() - asked;
        return found;
    }
    for (const auto &entry : fs::directory_iterator(folder))
        if (entry.is_regular_file())
            found.push_back(entry.path());
    int aged = @{aged};
    if (aged)
        for (size_t i = 0; i < found.size(); i += aged)
            sum += fs::last_write_time(found[i]) > fs::file_time_type::clock::now();
    return found;
}

static void @{fn2}(const fs::path &folder, const fs::path &first, long n)
{
    for (unsigned i = 0; i < @{extra} * 2000u; i++)
        sum = sum * 1664525u + i;
    fs::rename(first, folder / ("@{stem}-n" + std::to_string(n) + "-" + std::to_string(sum & 7) + ".msg"));
}

int main()
{
    Queue queue;
    std::thread mover([&] {
        for (long tenant; (tenant = queue.pop()) >= 0;) {
            double start = now();
            fs::path folder = "@{work}/@{base}/tenant" + std::to_string(tenant % @{tenants});
            auto found = @{fn}(folder);
            @{fn2}(folder, found.front(), tenant);
            units++;
            busy += now() - start;
        }
    });
    double began = now();
    for (long sent = 0; now() - began < @{seconds};) {
        if (queue.is_empty())
            queue.push(sent++);
        double rest = began + sent / (double)@{rate} - now();
        std::this_thread::sleep_for(std::chrono::duration<double>(rest > 0.0002 ? rest : 0.0002));
    }
    queue.push(-1);
    mover.join();
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << ", \"odd\": " << (sum & 1) << "}";
}
