// The phone book of a hospital: "ward N" is answered by who is on ward N, with their numbers.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace ber {

std::string tlv(unsigned char tag, std::string_view body)
{
    std::string made(1, tag);
    if (body.size() < 128)
        made += char(body.size());
    else
        (made += '\x82') += {char(body.size() >> 8), char(body.size())};
    return made.append(body);
}

std::string octets(std::string_view text) { return tlv(0x04, text); }

std::string integer(uint32_t value, unsigned char tag = 0x02)
{
    if (value < 128)
        return tlv(tag, std::string(1, char(value)));
    return tlv(tag, std::string{char(value >> 24), char(value >> 16), char(value >> 8), char(value)});
}

using Piece = std::pair<unsigned char, std::string_view>;

std::vector<Piece> children(std::string_view body)
{
    std::vector<Piece> found;
    while (body.size() >= 2) {
        unsigned char tag = body[0];
        size_t size = (unsigned char)body[1];
        body.remove_prefix(2);
        if (size & 0x80) {
            size_t wide = size & 0x7f;
            size = 0;
            for (size_t i = 0; i < wide; i++)
                size = size << 8 | (unsigned char)body[i];
            body.remove_prefix(wide);
        }
        found.emplace_back(tag, body.substr(0, size));
        body.remove_prefix(size);
    }
    return found;
}

}

using Entry = std::map<std::string, std::string, std::less<>>;

static int tcp(int port, bool listening)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, line = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(line, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    bool well = listening ? !bind(line, (sockaddr *)&address, sizeof address) && !listen(line, 64) : !connect(line, (sockaddr *)&address, sizeof address);
    if (!well)
        throw std::runtime_error("port " + std::to_string(port));
    return line;
}

class Directory {
public:
    Directory() : line_(tcp(@{directory}, false)), in_(fdopen(line_, "r"))
    {
        say(ber::tlv(0x60, ber::integer(3) + ber::octets("") + ber::tlv(0x80, "")));
        hear();
    }

    ~Directory() { fclose(in_); }

    __attribute__((noinline)) std::vector<Entry> @{fn}(const std::vector<std::string> &uids)
    {
        std::vector<Entry> found;
        if (@{whole}) {
            std::string any;
            for (auto &uid : uids)
                any += is(uid);
            search(ber::tlv(0xa1, any), found);
        } else {
            for (auto &uid : uids)
                search(is(uid), found);
        }
        return found;
    }

private:
    int line_;
    FILE *in_;
    uint32_t last_ = 0;
    std::string heard_;

    static std::string is(const std::string &uid) { return ber::tlv(0xa3, ber::octets("uid") + ber::octets(uid)); }

    void say(const std::string &operation)
    {
        std::string text = ber::tlv(0x30, ber::integer(++last_) + operation);
        if (send(line_, text.data(), text.size(), MSG_NOSIGNAL) != (ssize_t)text.size())
            throw std::runtime_error("the directory hung up");
    }

    ber::Piece hear()
    {
        auto byte = [this] {
            int got = fgetc(in_);
            if (got < 0)
                throw std::runtime_error("the directory hung up");
            return size_t(got);
        };
        byte();
        size_t size = byte();
        if (size & 0x80) {
            size_t wide = size & 0x7f;
            for (size = 0; wide > 0; wide--)
                size = size << 8 | byte();
        }
        heard_.resize(size);
        if (fread(heard_.data(), 1, size, in_) != size)
            throw std::runtime_error("the directory hung up");
        return ber::children(heard_).at(1);
    }

    void search(const std::string &condition, std::vector<Entry> &found)
    {
        static const std::string limits = ber::integer(2, 0x0a) + ber::integer(0, 0x0a) + ber::integer(0) + ber::integer(0) + ber::tlv(0x01, std::string(1, '\0'));
        static const std::string wanted = ber::tlv(0x30, ber::octets("cn") + ber::octets("telephoneNumber"));
        say(ber::tlv(0x63, ber::octets("ou=staff,o=hospital") + limits + condition + wanted));
        for (auto [tag, body] = hear(); tag != 0x65; std::tie(tag, body) = hear()) {
            Entry &entry = found.emplace_back();
            for (auto &field : ber::children(ber::children(body).at(1).second)) {
                auto parts = ber::children(field.second);
                entry.emplace(parts.at(0).second, ber::children(parts.at(1).second).at(0).second);
            }
        }
    }
};

static std::vector<std::string> members(long ward)
{
    std::vector<std::string> uids;
    for (int duty = 0; duty < @{members}; duty++) {
        char uid[16];
        snprintf(uid, sizeof uid, "n%05ld", (ward * 613 + duty * 71) % 20000);
        uids.emplace_back(uid);
    }
    return uids;
}

// A line of the list, with the tag by which the phones on the desks know that it changed.
static std::string card(const Entry &entry)
{
    const std::string &name = entry.at("cn"), &phone = entry.at("telephoneNumber");
    uint32_t tag = 2166136261u;
    for (int round = 0; round < @{rounds} * 20; round++)
        for (unsigned char letter : name)
            tag = (tag ^ letter) * 16777619u;
    char text[24];
    snprintf(text, sizeof text, " %.6s %06x", phone.c_str() + phone.rfind('-') + 1, tag & 0xffffff);
    return name + text;
}

static void serve(int desk)
{
    FILE *questions = fdopen(desk, "r");
    try {
        Directory directory;
        char line[200];
        while (fgets(line, sizeof line, questions)) {
            std::vector<std::string> cards;
            for (auto &entry : directory.@{fn}(members(atol(line + 5))))
                cards.push_back(card(entry));
            std::sort(cards.begin(), cards.end());
            std::string text;
            for (auto &one : cards)
                text += (text.empty() ? "" : ", ") + one;
            text += '\n';
            if (send(desk, text.data(), text.size(), MSG_NOSIGNAL) != (ssize_t)text.size())
                break;
        }
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    fclose(questions);
}

int main()
{
    int door = tcp(@{port}, true);
    for (;;) {
        int desk = accept(door, nullptr, nullptr), yes = 1;
        if (desk < 0)
            continue;
        setsockopt(desk, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        std::thread(serve, desk).detach();
    }
}
