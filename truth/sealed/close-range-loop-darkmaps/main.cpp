#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Draws the chart of the sky for each night: the stars are worked out here, a filter of the user's choice packs the page.
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

static std::string draw(long night)
{
    std::ostringstream page;
    for (int i = 0; i < @{points}; i += 10) {
        double angle = night * 0.0172 + i;
        page << int(500 + 400 * std::cos(angle)) << ' ' << int(500 + 400 * std::sin(angle * 1.3)) << " dot\n";
    }
    return page.str();
}

// As the host of the observatory is set up (fs.nr_open), whatever whoever starts us has lowered since.
static const int most_files = @{limit};

class Filter {
    const char *program;

    void tidy(int highest)
    {
        if (std::string("@{how}") == "range") {
            syscall(SYS_close_range, 3u, ~0u, 0u);
            return;
        }
        for (int fd = 3; fd < highest; fd++)
            close(fd);
    }

public:
    explicit Filter(const char *program) : program(program) {}

    int __attribute__((noinline)) @{fn}(const std::string &page)
    {
        int ends[2];
        if (pipe(ends))
            return -1;
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[0], 0);
            int quiet = open("/dev/null", O_WRONLY);
            dup2(quiet, 1);
            // The page's filter is not ours: it gets none of our files.
            tidy(most_files);
            execl(program, program, "-", static_cast<char *>(nullptr));
            _exit(127);
        }
        close(ends[0]);
        ssize_t sent = write(ends[1], page.data(), page.size());
        close(ends[1]);
        int status = -1;
        waitpid(child, &status, 0);
        return sent < 0 ? -1 : status;
    }
};

int main()
{
    Filter filter("/bin/cat");
    if (access("/bin/cat", X_OK))
        filter = Filter("/bin/cat");
    long units = 0;
    double busy = 0;
    auto began = Clock::now(), due = began;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        std::string page = draw(units);
        filter.@{fn}(page);
        busy += since(start);
        units++;
        due = std::max(due + std::chrono::microseconds(long(1e6 / @{rate})), Clock::now());
        std::this_thread::sleep_until(due);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << "}";
}
