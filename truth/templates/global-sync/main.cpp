#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <fcntl.h>
#include <unistd.h>

// A store with one writer: who sets a value waits until the writer has put the table down.
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Change {
    int key;
    std::string value;
    bool done = false;
};

class Store {
    std::map<int, std::string> table;
    std::deque<Change *> waiting;
    std::mutex guard;
    std::condition_variable came, kept;
    bool over = false;
    std::thread writer;
    int folder = open("@{work}", O_RDONLY | O_DIRECTORY);

    void __attribute__((noinline)) @{fn}(bool settle)
    {
        {
            std::ofstream out("@{work}/@{index}", std::ios::in | std::ios::out);
            for (auto &[key, value] : table)
                out << key << '=' << value << '\n';
        }
        if (settle) {
            auto start = Clock::now();
            syncfs(folder);
            spent += since(start);
        }
    }

    void write()
    {
        std::unique_lock<std::mutex> hold(guard);
        for (;;) {
            came.wait(hold, [this] { return over || !waiting.empty(); });
            if (waiting.empty())
                break;
            Change *change = waiting.front();
            waiting.pop_front();
            table[change->key] = change->value;
            hold.unlock();
            @{fn}(std::string("@{sync}") == "all");
            hold.lock();
            change->done = true;
            kept.notify_all();
        }
        hold.unlock();
        @{fn}(std::string("@{sync}") != "none");
    }

public:
    double spent = 0;

    Store() : writer([this] { write(); }) {}

    void set(int key, const std::string &value)
    {
        Change change{key, value};
        std::unique_lock<std::mutex> hold(guard);
        waiting.push_back(&change);
        came.notify_one();
        kept.wait(hold, [&] { return change.done; });
    }

    void close()
    {
        { std::lock_guard<std::mutex> hold(guard); over = true; }
        came.notify_one();
        writer.join();
    }
};

int main()
{
    std::ofstream("@{work}/@{index}").close();
    Store store;
    long units = 0;
    double busy = 0;
    auto began = Clock::now(), due = began;
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        store.set(units % @{entries}, "value " + std::to_string(units));
        busy += since(start);
        units++;
        due = std::max(due + std::chrono::microseconds(1000000 / @{per_s}), Clock::now());
        std::this_thread::sleep_until(due);
    }
    double spent = store.spent;
    store.close();
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << "}";
}
