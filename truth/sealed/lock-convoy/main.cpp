// A printer's spool: lines of several documents, in the order of their coming; a gate lets one in after the other.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Gate {
    struct Visitor {
        std::condition_variable turn;
        bool may = false;
    };
    std::mutex mutex;
    std::deque<Visitor *> queue;
    bool taken = false;

  public:
    void enter()
    {
        std::unique_lock<std::mutex> hold(mutex);
        if (!taken) {
            taken = true;
            return;
        }
        Visitor me;
        queue.push_back(&me);
        me.turn.wait(hold, [&] { return me.may; });
    }

    void leave()
    {
        std::lock_guard<std::mutex> hold(mutex);
        if (queue.empty()) {
            taken = false;
            return;
        }
        queue.front()->may = true;
        queue.front()->turn.notify_one();
        queue.pop_front();
    }
};

struct Document {
    long units = 0, pages = 0;
    double busy = 0, waited = 0;
};

static Gate @{lock};
static std::string spool;
static std::mutex meeting;
static std::condition_variable all_here;
static int here, round_;

static __attribute__((noinline)) void @{fn}(Document &document, const std::string &lines)
{
    auto asked = Clock::now();
    @{lock}.enter();
    document.waited += since(asked);
    spool += lines;
    if (spool.size() > 100000)
        spool.clear();
    @{lock}.leave();
}

static void meet()
{
    std::unique_lock<std::mutex> hold(meeting);
    int mine = round_;
    if (++here == @{threads}) {
        here = 0;
        round_++;
        all_here.notify_all();
    }
    all_here.wait_for(hold, std::chrono::milliseconds(300), [&] { return round_ != mine; });
    if (round_ == mine)
        here = 0;
}

int main()
{
    std::vector<Document> documents(@{threads});
    std::vector<std::thread> threads;
    auto began = Clock::now();
    for (int i = 0; i < @{threads}; i++)
        threads.emplace_back([&, i] {
            Document &document = documents[i];
            while (since(began) < @{seconds}) {
                auto start = Clock::now();
                for (int row = 0; row < @{rows}; row += @{batch}) {
                    std::string lines;
                    auto typing = Clock::now();
                    do
                        lines.assign(row % 90 + 1, 'x');
                    while (since(typing) < @{effort} * 1e-6 * @{batch});
                    @{fn}(document, lines);
                }
                document.units++;
                document.busy += since(start);
                double rest = document.units / @{pace} + i * 0.01 - since(began);
                if (rest > 0)
                    std::this_thread::sleep_for(std::chrono::duration<double>(rest));
                if (@{meet})
                    meet();
            }
        });
    Document all;
    for (int i = 0; i < @{threads}; i++) {
        threads[i].join();
        all.units += documents[i].units;
        all.busy += documents[i].busy;
        all.waited += documents[i].waited;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.waited);
    return fclose(out);
}
