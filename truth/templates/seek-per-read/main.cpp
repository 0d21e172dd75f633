// Joins a delivery with the list of orders: workers share its orders, and each reads the records that belong to its part.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class RecordFile {
public:
    explicit RecordFile(const std::string &path) : fd_(open(path.c_str(), O_RDONLY)) {}
    ~RecordFile() { close(fd_); }

    bool @{fn}(long number, char *record)
    {
        if (lseek(fd_, number * @{row}L, SEEK_SET) < 0)
            return false;
        return read(fd_, record, @{row}) == @{row};
    }

    bool lookup(long number, char *record) { return pread(fd_, record, @{row}, number * @{row}L) == @{row}; }

    size_t @{fn2}(std::vector<char> &block, off_t at)
    {
        ssize_t n = pread(fd_, block.data(), block.size(), at);
        return n > 0 ? n : 0;
    }

private:
    int fd_;
};

struct Part {
    long first, last;
    unsigned long sum = 0;
};

static const std::string mode = "@{mode}";

static void join(const std::string &path, Part &part)
{
    RecordFile file(path);
    char record[@{row}];
    if (mode == "each") {
        for (long i = part.first; i < part.last; i++)
            if (file.@{fn}((i * @{stride} + 3) % @{rows}, record))
                part.sum += (unsigned char)record[0];
    } else if (mode == "sorted") {
        std::vector<char> block(262144 / @{row} * @{row});
        off_t at = part.first * @{row}L, end = part.last * @{row}L;
        while (at < end) {
            size_t n = file.@{fn2}(block, at);
            if (n == 0)
                break;
            for (size_t i = 0; i < n; i += @{row})
                part.sum += (unsigned char)block[i];
            at += n;
        }
    } else {
        for (long i = 0; i < @{lookups}; i++)
            if (file.lookup((i * 7919 + part.first) % @{rows}, record))
                part.sum += (unsigned char)record[0];
    }
}

int main()
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (sockaddr *)&address, sizeof address))
        return 1;
    dprintf(fd, "%.3f %d\n", @{load} * 800000.0 / @{rows}, @{rows});
    FILE *courier = fdopen(fd, "r");
    auto began = Clock::now();
    double busy = 0, culprit = 0;
    long units = 0;
    unsigned long sum = 0;
    char path[4096];
    while (seconds_since(began) < @{seconds} && fgets(path, sizeof path, courier)) {
        auto start = Clock::now();
        path[strcspn(path, "\n")] = 0;
        Part parts[2] = { { 0, @{rows} / 2 }, { @{rows} / 2, @{rows} } };
        std::thread other(join, std::string(path), std::ref(parts[1]));
        join(path, parts[0]);
        other.join();
        culprit += seconds_since(start);
        sum += parts[0].sum + parts[1].sum;
        unlink(path);
        units++;
        busy += seconds_since(start);
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    return sum == 1;
}
