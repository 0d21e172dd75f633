// Typesets invoices; one thread that polls all tills.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace fs = std::filesystem;
static const std::string check = "@{check}";

class Font {
public:
    explicit Font(fs::path path) : path_(std::move(path)) { @{fnCamel}(); }

    // Takes the file's widths again, should it be a newer one.
    __attribute__((noinline)) void @{fnCamel}()
    {
        auto written = fs::last_write_time(path_);
        if (written == written_)
            return;
        written_ = written;
        words_.clear();
        std::ifstream file(path_);
        int code, width;
        while (file >> code >> width)
            if (code >= 0 && code < 128)
                letters_[code] = width;
    }

    int width(const std::string &word)
    {
        if (check == "word")
            @{fnCamel}();
        auto [place, is_new] = words_.try_emplace(word, 0);
        if (is_new)
            for (unsigned char letter : word)
                place->second += letters_[letter & 127];
        return place->second;
    }

private:
    fs::path path_;
    fs::file_time_type written_ = fs::file_time_type::min();
    std::array<int, 128> letters_{};
    std::unordered_map<std::string, int> words_;
};

class Sheet {
public:
    explicit Sheet(Font &font) : font_(font) {}

    void put(const std::string &word)
    {
        int width = font_.width(word);
        if (width > room_) {
            height_ += 12;
            room_ = 24000;
        }
        room_ -= width + 250;
    }

    void end()
    {
        height_ += 15;
        ragged_ += room_;
        room_ = 24000;
    }

    int pages() const { return height_ / 700 + 1; }
    long ragged() const { return ragged_; }

private:
    Font &font_;
    int room_ = 24000, height_ = 0;
    long ragged_ = 0;
};

static std::string invoice(Font &font, long number)
{
    static const std::vector<std::string> goods = {"oak", "board", "beech", "rail", "brass", "hinge", "steel", "screw", "glass", "pane", "wax", "oil", "long", "short"};
    if (check == "invoice")
        font.@{fnCamel}();
    Sheet sheet(font);
    for (int line = 0; line < @{lines}; line++) {
        for (int i = 0; i < 12; i++)
            sheet.put(goods[(number * 7 + line * 13 + i * i) % goods.size()]);
        sheet.end();
    }
    return "invoice " + std::to_string(number) + ": " + std::to_string(sheet.pages()) + " pages, " + std::to_string(sheet.ragged()) + " ragged\n";
}

int main()
{
    signal(SIGPIPE, SIG_IGN);
    Font font("@{work}/@{fonts}/@{font}");
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) || listen(door, 64))
        return 1;
    std::vector<pollfd> all{{door, POLLIN, 0}};
    std::map<int, std::string> begun;
    auto looked = std::chrono::steady_clock::now();
    for (;;) {
        poll(all.data(), all.size(), check == "timer" ? 1000 : -1);
        if (check == "timer" && std::chrono::steady_clock::now() - looked >= std::chrono::seconds(1)) {
            font.@{fnCamel}();
            looked = std::chrono::steady_clock::now();
        }
        for (size_t i = all.size(); i-- > 1;) {
            if (!all[i].revents)
                continue;
            char piece[512];
            ssize_t n = read(all[i].fd, piece, sizeof piece);
            if (n <= 0) {
                close(all[i].fd);
                begun.erase(all[i].fd);
                all.erase(all.begin() + i);
                continue;
            }
            std::string &text = begun[all[i].fd].append(piece, n);
            for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
                std::string answer = invoice(font, std::atol(text.c_str() + 8));
                if (write(all[i].fd, answer.data(), answer.size()) < 0)
                    break;
            }
        }
        if (all[0].revents) {
            int till = accept(door, nullptr, nullptr);
            setsockopt(till, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            all.push_back({till, POLLIN, 0});
        }
    }
}
