// The desk of a coast radio: from the tape of bulletins to the sheet that is read out to the ships.
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Bulletin {
    std::string code, given, body;
    std::map<std::string, int> waters;
};

struct Mast {
    double latitude;
    int power;

    double worth(const std::map<std::string, int> &waters) const
    {
        double sum = 0;
        for (const auto &[name, times] : waters)
            sum += times * power / (1 + std::acos(std::min(1.0, std::sin(latitude) * 0.83 + std::cos(latitude) * 0.55 * std::cos(name.size() / 90.0))));
        return sum;
    }
};

class Desk {
    const std::regex head{"ZCZC ([A-Z])([A-Z])([0-9]{2})"};
    const std::regex closed{"@{pattern}"};
    std::vector<Mast> masts;
    std::deque<std::string> sheet;

public:
    double spent = 0;
    long endless = 0;

    explicit Desk(const std::string &stations)
    {
        std::ifstream file(stations);
        for (std::string row; std::getline(file, row);) {
            int degrees = 0, minutes = 0, power = 0;
            if (sscanf(row.c_str(), "%d-%dN %*s %d", &degrees, &minutes, &power) == 3)
                masts.push_back({(degrees + minutes / 60.0) * M_PI / 180, power});
        }
    }

    Bulletin parse(const std::string &text) const
    {
        std::istringstream lines(text);
        std::string line;
        std::smatch found;
        Bulletin bulletin;
        std::getline(lines, line);
        if (!std::regex_search(line, found, head))
            throw std::runtime_error("no bulletin: " + line);
        bulletin.code = found.str(1) + found.str(2) + found.str(3);
        std::getline(lines, bulletin.given);
        while (std::getline(lines, line)) {
            if (size_t off = line.find("OFF "); off != std::string::npos)
                bulletin.waters[line.substr(off + 4, line.find(' ', off + 4) - off - 4)]++;
            bulletin.body += (bulletin.body.empty() ? "" : " ") + line;
        }
        return bulletin;
    }

    __attribute__((noinline)) std::string @{fn}(const std::string &body)
    {
        std::smatch found;
        if (!std::regex_search(body, found, closed)) {
            endless++;
            return "no end";
        }
        std::string text;
        for (size_t group = found.size() - 3; group < found.size(); group++)
            text += (text.empty() ? "" : " to ") + found.str(group).substr(0, 6);
        return text;
    }

    const std::string &take(const std::string &text)
    {
        Bulletin bulletin = parse(text);
        auto start = Clock::now();
        std::string waters = @{fn}(bulletin.body);
        spent += since(start);
        size_t best = 0;
        for (size_t i = 1; i < masts.size(); i++)
            if (masts[i].worth(bulletin.waters) > masts[best].worth(bulletin.waters))
                best = i;
        sheet.push_back(bulletin.code + " " + bulletin.given + ", mast " + std::to_string(best + 1) + ": " + waters);
        if (sheet.size() > 200)
            sheet.pop_front();
        return sheet.back();
    }
};

static std::vector<std::string> tape_of(const std::string &path)
{
    std::vector<std::string> tape(1);
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line == "NNNN")
            tape.emplace_back();
        else
            tape.back() += line + "\n";
    }
    tape.pop_back();
    return tape;
}

int main()
{
    Desk desk("@{work}/stations.conf");
    const std::vector<std::string> tape = tape_of("@{work}/@{tape}");
    std::string last;
    long units = 0;
    double busy = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        last = desk.take(tape[units++ % tape.size()]);
        busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(units / double(@{rate}))));
    }
    std::cout << units << " bulletins, " << desk.endless << " without an end; " << last << "\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << desk.spent << "}";
}
