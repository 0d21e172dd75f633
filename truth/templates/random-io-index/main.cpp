// Values a warehouse: the articles of a group, in the order of the index over them, from a table that is mapped.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static const size_t SLOT = @{slot_kb} * 1024, ROW = 4096;
static const std::string mode = "@{mode}";

class Table {
public:
    explicit Table(const char *path)
    {
        fd_ = open(path, O_RDONLY);
        struct stat state;
        fstat(fd_, &state);
        size_ = state.st_size;
        at_ = (const unsigned char *)mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
        madvise((void *)at_, size_, MADV_RANDOM);
    }

    size_t groups() const { return size_ / SLOT / @{rows}; }
    size_t size() const { return size_; }

    void __attribute__((noinline)) @{fn}(size_t number, unsigned char *row) const
    {
        const unsigned char *from = at_ + number * SLOT;
        std::copy(from, from + ROW, row);
    }

    size_t block(size_t at, std::vector<unsigned char> &room) const
    {
        ssize_t n = pread(fd_, room.data(), room.size(), at);
        return n > 0 ? n : 0;
    }

private:
    int fd_;
    size_t size_;
    const unsigned char *at_;
};

static uint64_t value(const unsigned char *row)
{
    uint64_t sum = 0;
    for (int round = 0; round < @{rounds}; round++)
        for (size_t i = 0; i < ROW; i++)
            sum = sum * 31 + row[i];
    return sum;
}

struct Totals {
    std::mutex hold;
    long units = 0;
    double busy = 0, reading = 0;
    uint64_t sum = 0;
};

static void work(const Table &table, Totals &totals, int worker, Clock::time_point began)
{
    std::mt19937 chance(worker);
    std::vector<size_t> index(@{rows});
    std::vector<unsigned char> room(mode == "merge" ? 262144 : 1 << 20), rows(ROW * @{rows});
    auto due = began;
    for (size_t unit = worker; since(began) < @{seconds}; unit += @{workers}) {
        size_t first = unit % table.groups() * @{rows};
        for (size_t i = 0; i < index.size(); i++)
            index[i] = i;
        std::shuffle(index.begin(), index.end(), chance);
        auto start = Clock::now();
        uint64_t sum = 0;
        double reading = 0;
        if (mode == "index") {
            for (size_t row : index) {
                auto before = Clock::now();
                table.@{fn}(first + row, rows.data());
                reading += since(before);
                sum += value(rows.data());
            }
        } else if (mode == "sorted") {
            size_t at = first * SLOT, end = at + @{rows} * SLOT, n;
            for (; at < end && (n = table.block(at, room)) > 0; at += n)
                for (size_t slot = (at + SLOT - 1) / SLOT * SLOT; slot + ROW <= at + n && slot < end; slot += SLOT)
                    std::copy_n(room.data() + (slot - at), ROW, rows.data() + (slot / SLOT - first) * ROW);
            reading = since(start);
            for (size_t row : index)
                sum += value(rows.data() + row * ROW);
        } else {
            for (size_t run = 0; run < 4; run++)
                if (table.block((table.size() / 4 * run + unit * room.size()) & ~4095ul, room))
                    sum += value(room.data());
            reading = since(start);
        }
        {
            std::lock_guard<std::mutex> held(totals.hold);
            totals.units++;
            totals.busy += since(start);
            totals.reading += reading;
            totals.sum += sum;
        }
        due = std::max(due + std::chrono::microseconds(long(1e6 * @{workers} / @{per_s})), Clock::now());
        std::this_thread::sleep_until(due);
    }
}

int main()
{
    Table table("@{work}/@{volume}/@{data}");
    Totals totals;
    std::vector<std::thread> workers;
    auto began = Clock::now();
    for (int i = 0; i < @{workers}; i++)
        workers.emplace_back(work, std::cref(table), std::ref(totals), i, began);
    for (auto &worker : workers)
        worker.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"sum\": %lu}", totals.units, totals.busy, totals.reading, totals.sum % 1000);
    return fclose(out);
}
