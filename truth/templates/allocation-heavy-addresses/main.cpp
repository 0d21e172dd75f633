// Finds the households of a mailing that are the same: by their address in its common form.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static const char *const NAMES[] = {"Lindenblueten", "Kirchhofsgarten", "Bahnhofsvorplatz", "Muehlenbachtal", "Sonnenhang"};

static std::vector<std::string> source(int count) {
    std::vector<std::string> lines;
    for (int i = 0; i < count; i++) {
        int street = i * 7 % @{streets};
        lines.push_back(std::string(i % 3 ? " " : "") + "An der " + NAMES[street % 5] + "-strasse " + std::to_string(street) + ", Hausnummer " +
                        std::to_string(i % 60) + ", " + std::to_string(10000 + street * 83 % 80000) + " Niederneuendorf");
    }
    return lines;
}

struct Part {
    explicit Part(std::string text) : text(std::move(text)) {}
    std::string text;
};

static std::string lowered(std::string text) {
    for (char &letter : text)
        if (letter >= 'A' && letter <= 'Z') letter += 32;
    return text;
}

static std::string without(std::string text, char unwanted) {
    std::string result;
    for (char letter : text)
        if (letter != unwanted) result += letter;
    return result;
}

// The common form, part for part.
__attribute__((noinline)) static std::string @{fn}(const std::string &line) {
    std::list<std::shared_ptr<Part>> parts;
    size_t from = 0;
    while (from < line.size()) {
        size_t end = line.find(' ', from);
        if (end == std::string::npos) end = line.size();
        if (end > from) parts.push_back(std::make_shared<Part>(line.substr(from, end - from)));
        from = end + 1;
    }
    std::list<std::string> clean;
    for (const auto &part : parts) clean.push_back(without(without(lowered(part->text), ','), '-'));
    std::string key;
    for (const std::string &word : clean) key = key + word + "/";
    return key;
}

__attribute__((noinline)) static const std::string &in_place(const std::string &line, std::string &key) {
    key.clear();
    for (char letter : line) {
        if (letter == ',' || letter == '-') continue;
        if (letter == ' ') {
            if (!key.empty() && key.back() != '/') key += '/';
        } else {
            key += letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter;
        }
    }
    key += '/';
    return key;
}

class Households {
public:
    void take(const std::vector<std::string> &lines) {
        for (const std::string &line : lines) {
            auto start = Clock::now();
            uint64_t mark = @{way} ? hash(@{fn}(line)) : hash(in_place(line, key));
            spent += since(start);
            if (++counts[mark & 0xffff] > 1) doubles++;
        }
    }

    double spent = 0;
    long doubles = 0;

private:
    static uint64_t hash(const std::string &text) {
        uint64_t value = 14695981039346656037u;
        for (unsigned char letter : text) value = (value ^ letter) * 1099511628211u;
        return value ^ value >> 32;
    }

    std::string key;
    std::unordered_map<uint64_t, long> counts;
};

int main() {
    auto lines = source(@{used});
    Households households;
    long units = 0;
    double busy = 0;
    auto began = Clock::now(), due = began;
    auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1.0 / @{rate}));
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        households.take(lines);
        units++;
        busy += since(start);
        due = std::max(due + period, Clock::now());
        std::this_thread::sleep_until(due);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << households.spent << "}";
}
