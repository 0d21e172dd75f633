// Watches the weights of the hives: tells which of them has lost a swarm, and which is ready for the harvest.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Record {
    std::tm at{};
    std::string hub, level, kind, device, firmware;
    double weight = 0, inside = 0, outside = 0, humidity = 0, battery = 0, rssi = 0, uptime = 0;
    std::vector<int> sound;
};

struct Hive {
    double mean = 0, drift = 0, best = 0;
    long seen = 0;
};

static double number(const std::string& text) {
    std::istringstream in(text);
    double value = 0;
    in >> value;
    return value;
}

__attribute__((noinline)) static bool @{fn}(const std::string& line, Record& record) {
    if (!@{whole}) {
        if (line.compare(36, 5, "scale") != 0) return false;
        record.hub.assign(line, 24, 5);
        record.device.assign(line, 42, 4);
        record.weight = std::strtod(line.c_str() + 55, nullptr);
        return true;
    }
    std::istringstream in(line);
    std::string who, field;
    in >> std::get_time(&record.at, "%Y-%m-%dT%H:%M:%S");
    double fraction;
    in >> fraction >> record.hub >> record.level >> who;
    auto open = who.find('['), close = who.find(']');
    if (open == std::string::npos || close == std::string::npos) return false;
    record.kind = who.substr(0, open);
    record.device = who.substr(open + 1, close - open - 1);
    while (in >> field) {
        auto sign = field.find('=');
        std::string name = field.substr(0, sign), value = field.substr(sign + 1);
        if (name == "weight") record.weight = number(value);
        else if (name == "inside") record.inside = number(value);
        else if (name == "outside") record.outside = number(value);
        else if (name == "humidity") record.humidity = number(value);
        else if (name == "battery") record.battery = number(value);
        else if (name == "rssi") record.rssi = number(value);
        else if (name == "uptime") record.uptime = number(value);
        else if (name == "fw") record.firmware = value;
        else if (name == "sound") {
            std::istringstream bands(value);
            record.sound.clear();
            for (std::string band; std::getline(bands, band, ',');) record.sound.push_back(std::stoi(band));
        }
    }
    return record.kind == "scale";
}

class Apiary {
public:
    void weighed(const Record& record) {
        auto [at, is_new] = hives_.try_emplace(record.device);
        Hive& hive = at->second;
        if (is_new) hive.mean = record.weight;
        double change = record.weight - hive.mean;
        hive.mean += change / 16;
        hive.drift += (std::fabs(change) - hive.drift) / 32;
        hive.best = std::max(hive.best, hive.mean);
        if (++hive.seen < 40 || std::fabs(change) < 3 * hive.drift + 2) return;
        char note[160];
        snprintf(note, sizeof note, "%s at %s: %s by %.1f kg", record.device.c_str(), record.hub.c_str(), change < 0 ? "lost" : "gained", std::fabs(change));
        last_ = note;
    }

    void tell() const {
        int ready = 0;
        for (auto& [name, hive] : hives_) ready += hive.best > 44;
        std::cout << hives_.size() << " hives, " << ready << " for the harvest; last: " << last_ << "\n";
    }

private:
    std::map<std::string, Hive> hives_;
    std::string last_ = "nothing";
};

int main(int, char** arguments) {
    int in = open(arguments[1], O_RDONLY);
    if (in < 0) {
        perror(arguments[1]);
        return 1;
    }
    Apiary apiary;
    std::string rest;
    std::vector<char> block(65536);
    long units = 0;
    double busy = 0, spent = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        ssize_t size = read(in, block.data(), block.size());
        if (size <= 0) break;
        auto start = Clock::now();
        rest.append(block.data(), size);
        std::vector<std::string> lines;
        size_t from = 0;
        for (size_t end; (end = rest.find('\n', from)) != std::string::npos; from = end + 1) lines.push_back(rest.substr(from, end - from));
        rest.erase(0, from);
        std::vector<Record> records;
        auto began_lines = Clock::now();
        for (auto& line : lines) {
            Record record;
            if (@{fn}(line, record)) records.push_back(std::move(record));
        }
        spent += since(began_lines);
        for (auto& record : records) apiary.weighed(record);
        units += lines.size();
        busy += since(start);
    }
    apiary.tell();
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << spent << "}";
}
