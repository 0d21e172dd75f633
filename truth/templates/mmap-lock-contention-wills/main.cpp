// Compares scans of wills with the seals of their notaries. Keys of seals must never reach a swap device.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;

static double since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Tally {
    long units = 0;
    double busy = 0, mapping = 0;
    uint64_t sum = 0;
};

class Keys {
public:
    explicit Keys(size_t bytes) : size(bytes)
    {
        table = static_cast<uint64_t *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (table == MAP_FAILED)
            throw std::runtime_error("no memory for the keys");
        uint64_t key = 88172645463325252u;
        for (size_t i = 0; i < size / 8; i++) {
            key ^= key << 13, key ^= key >> 7, key ^= key << 17;
            table[i] = key;
        }
        if (@{once})
            mlock(table, size);
    }

    // The keys that the next round of seals takes; what is in the table must stay in memory meanwhile.
    [[gnu::noinline]] void @{fn}()
    {
        if (!@{once} && mlock(table, size))
            perror("mlock");
        uint64_t seal = round++;
        for (int i = 0; i < @{keys}; i++)
            seal = (seal ^ table[(seal * 2654435761u + i) % (size / 8)]) * 1099511628211u;
        current.store(seal);
        if (!@{once})
            munlock(table, size);
    }

    std::atomic<uint64_t> current{1};

private:
    uint64_t *table;
    size_t size;
    uint64_t round = 0;
};

class Archive {
public:
    [[gnu::noinline]] uint64_t @{fn2}(int number, uint64_t seal, Tally &tally)
    {
        std::string name = "@{work}/@{spool}/" + std::to_string(number % @{files}) + ".scan";
        int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat about;
        if (fd < 0 || fstat(fd, &about))
            throw std::runtime_error(name);
        auto start = Clock::now();
        auto *scan = static_cast<const unsigned char *>(mmap(nullptr, about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0));
        tally.mapping += since(start);
        close(fd);
        for (int pass = 0; pass < @{rounds}; pass++)
            for (off_t i = 0; i < about.st_size; i += 4)
                seal = (seal ^ scan[i]) * 1099511628211u;
        start = Clock::now();
        munmap(const_cast<unsigned char *>(scan), about.st_size);
        tally.mapping += since(start);
        return seal;
    }
};

static void clerk(int number, Archive &archive, Keys &keys, Clock::time_point began, Tally &tally)
{
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        for (int i = 0; i < @{scans}; i++)
            tally.sum ^= archive.@{fn2}(number * 7 + tally.units * @{scans} + i, keys.current, tally);
        tally.units++;
        tally.busy += since(start);
        double rest = (tally.units + number / double(@{clerks})) / @{rate} - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
}

int main()
{
    Keys keys(size_t(@{table_kb}) * 1024);
    Archive archive;
    std::vector<Tally> tallies(@{clerks});
    std::vector<std::thread> clerks;
    std::atomic<bool> open{true};
    auto began = Clock::now();
    std::thread keeper([&] {
        while (open) {
            keys.@{fn}();
            std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{often_ms}));
        }
    });
    for (int i = 0; i < @{clerks}; i++)
        clerks.emplace_back(clerk, i, std::ref(archive), std::ref(keys), began, std::ref(tallies[i]));
    Tally all;
    for (int i = 0; i < @{clerks}; i++) {
        clerks[i].join();
        all.units += tallies[i].units;
        all.busy += tallies[i].busy;
        all.mapping += tallies[i].mapping;
        all.sum ^= tallies[i].sum;
    }
    open = false;
    keeper.join();
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.mapping);
    fclose(out);
    printf("%llx\n", (unsigned long long)all.sum);
}
