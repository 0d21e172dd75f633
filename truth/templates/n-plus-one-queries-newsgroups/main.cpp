// Shows the threads of newsgroups: `threads N` is answered by a line of JSON.
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

sockaddr_in local(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A connection of lines.
class Wire {
public:
    explicit Wire(int socket) : socket_(socket) {
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Wire(const Wire &) = delete;
    Wire &operator=(const Wire &) = delete;
    ~Wire() { close(socket_); }

    bool line(std::string &into) {
        for (;;) {
            if (auto end = heard_.find('\n', at_); end != std::string::npos) {
                into.assign(heard_, at_, end - at_);
                if (!into.empty() && into.back() == '\r')
                    into.pop_back();
                at_ = end + 1;
                return true;
            }
            heard_.erase(0, at_);
            at_ = 0;
            char block[16384];
            ssize_t got = read(socket_, block, sizeof block);
            if (got <= 0)
                return false;
            heard_.append(block, static_cast<size_t>(got));
        }
    }

    void say(std::string_view text) {
        while (!text.empty()) {
            ssize_t sent = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0)
                throw std::runtime_error("hung up");
            text.remove_prefix(static_cast<size_t>(sent));
        }
    }

private:
    int socket_;
    std::string heard_;
    size_t at_ = 0;
};

struct Article {
    std::string subject, from, id, parent;
    int lines = 0;
};

int connected(int port) {
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = local(port);
    if (connect(made, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
        close(made);
        throw std::runtime_error("no news server");
    }
    return made;
}

/// A session with the news server.
class News {
public:
    News() : wire_(connected(@{news})) { status("200"); }

    std::pair<long, long> group(const std::string &name) {
        wire_.say("GROUP " + name + "\r\n");
        long first = 0, last = 0;
        if (std::sscanf(status("211").c_str(), "211 %*d %ld %ld", &first, &last) != 2)
            throw std::runtime_error("no such group");
        return {first, last};
    }

    Article head(long number) {
        wire_.say("HEAD " + std::to_string(number) + "\r\n");
        status("221");
        std::map<std::string, std::string> fields;
        for (const auto &line : text())
            if (auto colon = line.find(": "); colon != std::string::npos)
                fields[line.substr(0, colon)] = line.substr(colon + 2);
        return {fields["Subject"], fields["From"], fields["Message-ID"], fields["References"], std::atoi(fields["Lines"].c_str())};
    }

    std::vector<Article> over(long first, long last) {
        wire_.say("OVER " + std::to_string(first) + "-" + std::to_string(last) + "\r\n");
        status("224");
        std::vector<Article> articles;
        for (const auto &line : text()) {
            std::vector<std::string> columns;
            for (size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
                to = line.find('\t', from);
                columns.push_back(line.substr(from, to == std::string::npos ? to : to - from));
            }
            columns.resize(8);
            articles.push_back({columns[1], columns[2], columns[4], columns[5], std::atoi(columns[7].c_str())});
        }
        return articles;
    }

private:
    std::string status(std::string_view wanted) {
        std::string line;
        if (!wire_.line(line) || line.compare(0, 3, wanted) != 0)
            throw std::runtime_error("news server: " + line);
        return line;
    }

    /// Lines up to the one that is a dot.
    std::vector<std::string> text() {
        std::vector<std::string> lines;
        std::string line;
        while (wire_.line(line) && line != ".")
            lines.push_back(line);
        return lines;
    }

    Wire wire_;
};

__attribute__((noinline)) std::vector<Article> @{fn}(News &news, long first, long last) {
    if (std::string_view("@{overview}") == "range")
        return news.over(first, last);
    std::vector<Article> articles;
    for (long number = first; number <= last; number++)
        articles.push_back(news.head(number));
    return articles;
}

std::string threads(News &news, const std::string &group) {
    struct Thread {
        std::string subject, last;
        int articles = 0, lines = 0;
    };
    auto [first, last] = news.group(group);
    std::map<std::string, Thread> found;
    for (const auto &article : @{fn}(news, first, last)) {
        auto &thread = found[article.parent.empty() ? article.id : article.parent];
        if (thread.articles++ == 0)
            thread.subject = article.subject.rfind("Re: ", 0) == 0 ? article.subject.substr(4) : article.subject;
        thread.lines += article.lines;
        thread.last = article.from;
    }
    std::string answer = "{\"group\":\"" + group + "\",\"threads\":[";
    const char *between = "";
    for (const auto &[root, thread] : found) {
        answer += between;
        answer += "{\"root\":\"" + root + "\",\"subject\":\"" + thread.subject + "\",\"articles\":" + std::to_string(thread.articles) +
                  ",\"lines\":" + std::to_string(thread.lines) + ",\"last\":\"" + thread.last + "\"}";
        between = ",";
    }
    return answer + "]}\n";
}

void serve(int socket) {
    Wire guest(socket);
    try {
        News news;
        for (std::string asked; guest.line(asked);) {
            int number = 0;
            if (std::sscanf(asked.c_str(), "threads %d", &number) == 1)
                guest.say(threads(news, "@{hierarchy}.g" + std::to_string(number % 40)));
            else
                guest.say("{\"error\":\"what?\"}\n");
        }
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
}

}  // namespace

int main() {
    int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    auto address = local(@{port});
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 || listen(door, 64) != 0) {
        std::perror("door");
        return 1;
    }
    for (;;) {
        int guest = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
        if (guest >= 0)
            std::thread(serve, guest).detach();
    }
}
