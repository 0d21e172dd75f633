// Compiles blocklists: takes the lists that a publisher sends, refuses what is no host, and keeps what no wider entry covers.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using Names = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Subscription {
public:
    explicit Subscription(int port)
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (connect(line, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no publisher");
    }

    ~Subscription() { close(line); }

    std::optional<Names> next()
    {
        auto head = get();
        if (!head)
            return std::nullopt;
        Names names(std::stoi(head->substr(5)));
        for (auto &name : names)
            name = get().value_or("");
        return names;
    }

private:
    std::optional<std::string> get()
    {
        size_t end;
        while ((end = text.find('\n', at)) == std::string::npos) {
            char piece[16384];
            const ssize_t n = recv(line, piece, sizeof piece, 0);
            if (n <= 0)
                return std::nullopt;
            text.erase(0, at).append(piece, n);
            at = 0;
        }
        std::string one = text.substr(at, end - at);
        at = end + 1;
        return one;
    }

    int line = socket(AF_INET, SOCK_STREAM, 0);
    std::string text;
    size_t at = 0;
};

class Blocklist {
public:
    void add(Names names)
    {
        std::sort(names.begin(), names.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
        for (auto &name : names)
            if (!covers(name))
                hosts.insert(name);
    }

    void write(const std::string &path) const
    {
        std::ofstream out(path);
        int left = 2000;
        for (auto &name : hosts) {
            if (left-- == 0)
                break;
            out << "0.0.0.0 " << name << '\n';
        }
    }

private:
    bool covers(const std::string &name) const
    {
        for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
            if (hosts.count(name.substr(dot + 1)))
                return true;
        return false;
    }

    std::set<std::string> hosts;
};

class Checker {
public:
    [[gnu::noinline]] Names @{fn}(const Names &names) const
    {
        Names good;
        std::copy_if(names.begin(), names.end(), std::back_inserter(good), [this](auto &name) { return std::regex_match(name, host); });
        return good;
    }

private:
    const bool exact = std::string("@{host}") == "exact";
    const std::regex host{exact ? "([a-z0-9]+(-[a-z0-9]+)*\\.)+[a-z]{2,}" : "(([a-z0-9]+-?)+\\.)+[a-z]{2,}", std::regex::optimize};
};

int main()
{
    Subscription subscription(@{feed});
    const Checker checker;
    Blocklist blocklist;
    const auto began = Clock::now();
    double busy = 0, checking = 0;
    long units = 0;
    while (since(began) < @{seconds}) {
        const auto names = subscription.next();
        if (!names)
            break;
        const auto start = Clock::now();
        Names good = checker.@{fn}(*names);
        checking += since(start);
        blocklist.add(std::move(good));
        blocklist.write("@{work}/hosts.block");
        units++;
        busy += since(start);
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << checking << "}";
}
