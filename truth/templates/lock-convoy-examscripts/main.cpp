// Marks the scripts of an exam with some graders, and keeps the statistics that the board looks at.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// In a bundle of scripts.
constexpr int ANSWERS = @{answers}, QUESTIONS = @{questions};
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// A lock that is handed on in the order of asking, so that no grader is kept from it.
class Turn {
    struct Asking {
        std::condition_variable called;
        bool is_mine = false;
    };
    std::mutex desk;
    std::deque<Asking *> line;
    bool is_taken = false;

public:
    void lock()
    {
        std::unique_lock hold(desk);
        if (!is_taken) {
            is_taken = true;
            return;
        }
        Asking asking;
        line.push_back(&asking);
        asking.called.wait(hold, [&] { return asking.is_mine; });
    }

    void unlock()
    {
        std::lock_guard hold(desk);
        if (line.empty()) {
            is_taken = false;
            return;
        }
        Asking *next = line.front();
        line.pop_front();
        next->is_mine = true;
        next->called.notify_one();
    }
};

// How each question went so far.
class Statistics {
    Turn turn;
    struct { long points = 0, squares = 0, given = 0; } questions[QUESTIONS];

public:
    __attribute__((noinline)) void @{fn}(const std::vector<std::pair<int, int>> &marks)
    {
        std::lock_guard<Turn> hold(turn);
        for (auto [question, points] : marks) {
            questions[question].points += points;
            questions[question].squares += points * points;
            questions[question].given++;
        }
    }

    double mean(int question) { return double(questions[question].points) / double(questions[question].given); }
};

// Points for the words of the key that are in an answer.
static int mark(uint64_t script, int question)
{
    int points = 0;
    uint64_t text = script * 0x9E3779B97F4A7C15ull + question;
    for (int word = 0; word < @{words} * 2; word++) {
        text = text * 6364136223846793005ull + 1442695040888963407ull;
        points += std::to_string(text >> 20).find(char('0' + question % 10)) != std::string::npos;
    }
    return points;
}

struct Grader {
    long units = 0;
    double busy = 0, culprit = 0;

    void grade(Statistics &statistics, int number, Clock::time_point began)
    {
        std::vector<std::pair<int, int>> marks;
        while (since(began) < @{seconds}) {
            auto start = Clock::now();
            for (int answer = 0; answer < ANSWERS; answer++) {
                int question = answer % QUESTIONS;
                marks.emplace_back(question, mark((units * @{graders} + number) * ANSWERS + answer, question));
                if (marks.size() == @{together} || answer == ANSWERS - 1) {
                    auto marked = Clock::now();
                    statistics.@{fn}(marks);
                    culprit += since(marked);
                    marks.clear();
                }
            }
            busy += since(start);
            units++;
            std::this_thread::sleep_until(began + std::chrono::duration<double>(units / double(@{rate})));
        }
    }
};

int main()
{
    Statistics statistics;
    auto began = Clock::now();
    std::vector<Grader> graders(@{graders});
    std::vector<std::thread> threads;
    for (size_t number = 0; number < graders.size(); number++)
        threads.emplace_back([&, number] { graders[number].grade(statistics, number, began); });
    Grader all;
    for (size_t number = 0; number < graders.size(); number++) {
        threads[number].join();
        all.units += graders[number].units;
        all.busy += graders[number].busy;
        all.culprit += graders[number].culprit;
    }
    fprintf(stderr, "first question: %.2f\n", statistics.mean(0));
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.culprit);
    return fclose(out);
}
