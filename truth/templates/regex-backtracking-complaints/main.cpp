// Sorts the complaints of a day: what each is about, and which order it belongs to.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>

struct Complaint {
    std::string from, subject, text;
};

struct Parts {
    std::string first, last, order;
};

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static std::vector<Complaint> read_day(const std::string &path)
{
    std::vector<Complaint> complaints;
    Complaint current;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        if (line.empty()) {
            complaints.push_back(current);
            current = {};
            continue;
        }
        const size_t colon = line.find(": ");
        const std::string name = line.substr(0, colon), value = line.substr(colon + 2);
        (name == "from" ? current.from : name == "subject" ? current.subject : current.text) = value;
    }
    return complaints;
}

__attribute__((noinline)) static bool @{fn}(const std::string &text, Parts &parts)
{
#define EXPRESSION_@{expression}
#ifdef EXPRESSION_strict
    const size_t order = text.rfind(" order="), semicolon = text.find(';');
    if (order == std::string::npos || semicolon == std::string::npos || text.find_first_not_of("0123456789", order + 7) != std::string::npos)
        return false;
    const size_t before = text.rfind(';', order), start = before ? text.rfind(';', before - 1) : std::string::npos;
    parts = {text.substr(0, semicolon), start == std::string::npos ? "" : text.substr(start + 1, before - start - 1), text.substr(order + 7)};
    return true;
#else
    static const std::regex expression("^(.*);(.*);.* order=([0-9]+)$");
    std::smatch found;
    if (!std::regex_match(text, found, expression))
        return false;
    parts = {found[1], found[2], found[3]};
    return true;
#endif
}

// How often customers use each word, and which words go together.
static void count_words(const std::string &text, std::map<std::string, int> &words)
{
    std::string before;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = std::min(text.find_first_of(" ;=", at), text.size());
        if (end == at)
            continue;
        const std::string word = text.substr(at, end - at);
        words[word]++;
        words[before + "+" + word]++;
        before = word;
    }
}

int main()
{
    std::map<std::string, int> words, subjects;
    std::vector<std::string> unsorted;
    long units = 0, sorted = 0;
    double busy = 0, taking = 0;
    const double began = now();
    for (double start; (start = now()) - began < @{seconds};) {
        const auto complaints = read_day("@{work}/@{inbox}/day-" + std::to_string(units % @{days} + 1) + ".txt");
        for (const Complaint &complaint : complaints) {
            subjects[complaint.subject]++;
            count_words(complaint.text, words);
            Parts parts;
            const double asked = now();
            const bool is_ours = @{fn}(complaint.text, parts);
            taking += now() - asked;
            if (is_ours)
                sorted++;
            else if (unsorted.size() < 1000)
                unsorted.push_back(complaint.from);
        }
        units++;
        busy += now() - start;
        const double rest = began + units / static_cast<double>(@{pace}) - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << taking << "}";
    printf("%ld sorted, %zu not, %zu words\n", sorted, unsorted.size(), words.size());
}
