// Shows the discussions of an archive of mailing lists: how long each is, and what it is about.
#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const size_t SLOT = @{slot_kb} * 1024, LETTERS = @{letters};
static const bool together = std::string("@{lay}") == "together", by_day = std::string("@{view}") == "day";

class Store {
public:
    explicit Store(const char *path) : fd_(open(path, O_RDONLY))
    {
        struct stat state;
        if (fd_ < 0 || fstat(fd_, &state) < 0) {
            perror(path);
            exit(1);
        }
        slots_ = state.st_size / SLOT;
        discussions = slots_ / LETTERS;
    }

    size_t discussions;

    std::vector<unsigned char> discussion(size_t number)
    {
        std::vector<unsigned char> all(LETTERS * SLOT);
        if (together) {
            @{fn}(place(number, 0), all.data(), all.size());
            return all;
        }
        for (size_t i = 0; i < LETTERS; i++)
            @{fn}(place(number, i), all.data() + i * SLOT, SLOT);
        return all;
    }

    std::vector<unsigned char> day(size_t number)
    {
        std::vector<unsigned char> all(@{page_kb} * 1024);
        @{fn}(number * all.size() % (slots_ * SLOT - all.size()) & ~4095ul, all.data(), all.size());
        return all;
    }

private:
    size_t place(size_t discussion, size_t number) const
    {
        if (together)
            return (discussion * LETTERS + number) * SLOT;
        return (number * discussions + (discussion + number * 17) % discussions) * SLOT;
    }

    void __attribute__((noinline)) @{fn}(size_t place, unsigned char *room, size_t size)
    {
        for (ssize_t n; size && (n = pread(fd_, room, size, place)) > 0; place += n, room += n, size -= n)
            ;
    }

    int fd_;
    size_t slots_;
};

static std::pair<size_t, uint32_t> digest(const std::vector<unsigned char> &all)
{
    uint32_t words = 2166136261u;
    for (int round = 0; round < @{rounds}; round++)
        for (size_t i = 0; i + 8 <= all.size(); i += 8) {
            uint64_t part;
            memcpy(&part, &all[i], 8);
            words = (words ^ uint32_t(part ^ part >> 32)) * 16777619u;
        }
    return {std::count(all.begin(), all.end(), '\n'), words};
}

static void serve(Store &store, int line)
{
    FILE *in = fdopen(line, "r");
    char asked[200];
    while (fgets(asked, sizeof asked, in)) {
        const char *digits = strpbrk(asked, "0123456789");
        size_t wanted = digits ? strtoul(digits, nullptr, 10) : 0;
        auto all = by_day ? store.day(wanted * 2654435761u % 100003) : store.discussion(wanted * 2654435761u % store.discussions);
        auto [lines, words] = digest(all);
        char told[120];
        int n = snprintf(told, sizeof told, "%zu letters %zu lines %08x\n", all.size() / SLOT, lines, words);
        if (send(line, told, n, MSG_NOSIGNAL) < 0)
            break;
    }
    fclose(in);
}

int main()
{
    Store store("@{work}/@{volume}/@{data}");
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(@{port});
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, (sockaddr *)&at, sizeof at) < 0 || listen(door, 64) < 0) {
        perror("@{port}");
        return 1;
    }
    for (int line; (line = accept(door, nullptr, nullptr)) >= 0;)
        std::thread(serve, std::ref(store), line).detach();
}
