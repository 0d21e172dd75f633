// A console on which the carillonneur practises: the bars of a piece as the bells would sound them.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class Settings {
    std::map<std::string, std::string> values;

public:
    explicit Settings(const std::string &path)
    {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);)
            if (size_t sign = line.find(" = "); sign != std::string::npos)
                values[line.substr(0, sign)] = line.substr(sign + 3);
    }

    std::string text(const std::string &name) const { return values.at(name); }
    double number(const std::string &name) const { return std::stod(values.at(name)); }
};

struct Stroke {
    int bell, force, at;
};

using Sound = std::vector<float>;

class Tower {
    const double rate;
    const size_t longest;
    std::array<double, 49> tuned;

public:
    double spent = 0;

    explicit Tower(const Settings &settings) : rate(settings.number("rate")), longest(settings.number("longest") * rate)
    {
        for (size_t bell = 0; bell < tuned.size(); bell++)
            tuned[bell] = 130.8 * std::pow(2, bell / 12.0);
    }

    // Room for the longest sound there is.
    __attribute__((noinline)) void @{fn2}(Sound &sound) const { sound.reserve(longest); }

    void ring(const Stroke &stroke, Sound &sound) const
    {
        const double turn = 2 * M_PI * tuned[stroke.bell] / rate;
        float now = std::sin(turn), before = 0, loud = stroke.force / 127.0f;
        const float twice = 2 * std::cos(turn);
        for (float &one : sound) {
            one += loud * now;
            const float next = twice * now - before;
            before = now;
            now = next;
            loud *= 0.9985f;
        }
    }

    __attribute__((noinline)) void @{fn}(const Stroke &stroke, std::vector<float> &mix, Sound *shared)
    {
        auto start = Clock::now();
        {
            Sound own;
            Sound &sound = shared ? *shared : own;
            if (!shared)
                @{fn2}(own);
            sound.assign(@{sounds} + stroke.force * 4 - stroke.bell * 8, 0.0f);
            spent += since(start);
            ring(stroke, sound);
            std::transform(sound.begin(), sound.end(), mix.begin() + stroke.at, mix.begin() + stroke.at, std::plus<float>());
            start = Clock::now();
        }
        spent += since(start);
    }
};

class Player {
    Tower &tower;
    const bool by_bar;
    std::vector<float> mix = std::vector<float>(24000);

public:
    Player(Tower &tower, const Settings &settings) : tower(tower), by_bar(settings.text("buffers") == "bar") {}

    float play(const std::vector<Stroke> &bar)
    {
        Sound shared;
        if (by_bar)
            tower.@{fn2}(shared);
        std::fill(mix.begin(), mix.end(), 0.0f);
        for (const Stroke &stroke : bar)
            tower.@{fn}(stroke, mix, by_bar ? &shared : nullptr);
        return *std::max_element(mix.begin(), mix.end());
    }
};

static std::vector<std::vector<Stroke>> score_of(const std::string &path)
{
    std::vector<std::vector<Stroke>> bars;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        bars.emplace_back();
        char colon;
        for (Stroke one{}; words >> one.bell >> colon >> one.force >> colon >> one.at;)
            bars.back().push_back(one);
    }
    return bars;
}

int main()
{
    const Settings settings("@{work}/console.ini");
    const int above = static_cast<int>(settings.number("return_above"));
    mallopt(M_MMAP_THRESHOLD, above);
    mallopt(M_TRIM_THRESHOLD, 2 * above);
    const auto score = score_of("@{work}/@{score}");
    Tower tower(settings);
    Player player(tower, settings);
    long units = 0;
    double busy = 0;
    float loudest = 0;
    const auto began = Clock::now();
    while (since(began) < @{seconds}) {
        const auto start = Clock::now();
        loudest = std::max(loudest, player.play(score[units++ % score.size()]));
        busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(units / double(@{rate}))));
    }
    std::cout << units << " bars, the loudest " << loudest << "\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << tower.spent << "}";
}
