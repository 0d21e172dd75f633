// A worker that takes tasks from a queue and starts a converter for each.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void wait_until(double due)
{
    double rest = due - now();
    if (rest > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(rest));
}

static void write_report(long units, double seconds, double culprit)
{
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << seconds << ", \"culprit\": " << culprit << "}";
}
class Converter {
public:
    double *spent = static_cast<double *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

    int @{fn}(const std::string &name)
    {
        const char *program = "@{work}/bin/@{tool}";
        pid_t child = fork();
        if (child < 0)
            return -1;
        if (child == 0) {
            double start = now();
            if (@{top} == 0)
                closefrom(3);
            for (int fd = @{top} - 1; fd > 2; fd--)
                close(fd);
            *spent += now() - start;
            execl(program, program, name.c_str(), nullptr);
            _exit(127);
        }
        int status;
        waitpid(child, &status, 0);
        return status;
    }
};

int main()
{
    std::deque<std::string> queue;
    std::mutex lock;
    std::condition_variable filled, taken;
    bool over = false;
    long units = 0;
    double busy = 0;
    Converter converter;
    std::thread worker([&] {
        for (;;) {
            std::unique_lock<std::mutex> hold(lock);
            filled.wait(hold, [&] { return over || !queue.empty(); });
            if (over)
                return;
            std::string name = queue.front();
            queue.pop_front();
            hold.unlock();
            taken.notify_one();
            double start = now();
            if (converter.@{fn}(name))
                _exit(1);
            units++;
            busy += now() - start;
        }
    });
    double began = now();
    for (long n = 0; now() - began < @{seconds}; n++) {
        {
            std::unique_lock<std::mutex> hold(lock);
            taken.wait(hold, [&] { return queue.size() < 2; });
            queue.push_back("image-" + std::to_string(n));
        }
        filled.notify_one();
        wait_until(began + n / (double)@{rate});
    }
    {
        std::lock_guard<std::mutex> hold(lock);
        over = true;
    }
    filled.notify_one();
    worker.join();
    write_report(units, busy, *converter.spent);
}
