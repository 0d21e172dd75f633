// The daybook: which quarters of a day are free for each doctor. "free DAY DOCTOR,DOCTOR…" is answered by "DOCTOR:QUARTER,QUARTER… …".
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kFirstQuarter = 32, kLastQuarter = 68, kDays = 260;

struct Entry {
    int doctor, day, from, to;
    bool cancelled;
};

std::vector<Entry> book;
std::map<std::pair<int, int>, std::vector<Entry>> pages;
const bool by_page = std::string("@{index}") == "doctor";

void load()
{
    unsigned state = 20240301;
    auto next = [&state](unsigned below) {
        state = state * 1664525u + 1013904223u;
        return static_cast<int>((state >> 8) % below);
    };
    for (int i = 0; i < @{entries}; i++) {
        Entry entry{next(@{doctors}), next(kDays), kFirstQuarter + next(34), 0, next(12) == 0};
        entry.to = entry.from + 1 + next(3);
        book.push_back(entry);
        if (by_page)
            pages[{entry.doctor, entry.day}].push_back(entry);
    }
}

bool overlaps(const Entry &entry, int quarter)
{
    return !entry.cancelled && entry.from <= quarter && quarter < entry.to;
}

__attribute__((noinline)) bool @{fn}(int doctor, int day, int quarter)
{
    int taken = 0;
    if (by_page) {
        auto page = pages.find({doctor, day});
        if (page != pages.end())
            for (const Entry &entry : page->second)
                taken += overlaps(entry, quarter);
    } else {
        for (const Entry &entry : book)
            if (entry.doctor == doctor && entry.day == day)
                taken += overlaps(entry, quarter);
    }
    // Two may be put into one quarter, as it always was.
    return taken < 2;
}

std::string free_quarters(const std::string &line)
{
    std::istringstream words(line);
    std::string verb, list, doctor;
    int day = 0;
    words >> verb >> day >> list;
    std::ostringstream out;
    std::istringstream doctors(list);
    while (std::getline(doctors, doctor, ',')) {
        out << doctor << ':';
        for (int quarter = kFirstQuarter; quarter < kLastQuarter; quarter++)
            if (@{fn}(atoi(doctor.c_str()), day % kDays, quarter))
                out << quarter << ',';
        out << ' ';
    }
    out << '\n';
    return out.str();
}

void serve(int client)
{
    std::string inbox;
    char part[512];
    ssize_t n;
    while ((n = read(client, part, sizeof part)) > 0) {
        inbox.append(part, n);
        for (size_t end; (end = inbox.find('\n')) != std::string::npos; inbox.erase(0, end + 1)) {
            std::string answer = free_quarters(inbox.substr(0, end));
            if (write(client, answer.data(), answer.size()) < 0)
                break;
        }
    }
    close(client);
}

}  // namespace

int main()
{
    load();
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, "@{work}/@{sock}", sizeof address.sun_path - 1);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 32))
        return perror("door"), 1;
    for (;;) {
        int client = accept(door, nullptr, nullptr);
        if (client >= 0)
            std::thread(serve, client).detach();
    }
}
