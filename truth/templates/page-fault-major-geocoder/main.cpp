// Sorts lists of parcels by where they go: each address is looked for in the register of all addresses.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Parcel {
    std::string address;
    uint32_t x, y;
};

class Register {
    static constexpr size_t LEAF = 4096;
    const uint8_t *data;
    size_t leaves;

  public:
    explicit Register(const char *path)
    {
        int file = open(path, O_RDONLY);
        struct stat about;
        if (file < 0 || fstat(file, &about))
            throw std::string("no register");
        data = static_cast<const uint8_t *>(mmap(nullptr, about.st_size, PROT_READ, MAP_SHARED, file, 0));
        close(file);
        // No address says where the next one is.
        madvise(const_cast<uint8_t *>(data), about.st_size, MADV_RANDOM);
        leaves = about.st_size / LEAF;
        if (@{preload})
            preload(path, about.st_size);
        leaves /= @{part};
    }

    void preload(const char *path, size_t size)
    {
        std::vector<char> block(1 << 20);
        int file = open(path, O_RDONLY);
        while (read(file, block.data(), block.size()) > 0)
            ;
        close(file);
        for (size_t leaf = 0; leaf < size / LEAF; leaf++)
            block[0] ^= data[leaf * LEAF];
        fprintf(stderr, "the register is there: %d\n", block[0]);
    }

    __attribute__((noinline)) const uint8_t *@{fn}(uint64_t key) const
    {
        size_t leaf = key % leaves;
        for (int hop = 1; hop < @{hops}; hop++) {
            uint64_t next;
            memcpy(&next, data + leaf * LEAF + key % 500 * 8, sizeof next);
            leaf = (next ^ key) % leaves;
        }
        return data + leaf * LEAF;
    }
};

static uint64_t hash(const std::string &text)
{
    uint64_t sum = 14695981039346656037ul;
    for (char c : text)
        sum = (sum ^ uint8_t(c)) * 1099511628211ul;
    return sum ^ sum >> 29;
}

static std::vector<Parcel> read_list(long number)
{
    std::vector<Parcel> list;
    for (int i = 0; i < @{parcels}; i++)
        list.push_back({ "Lindenweg " + std::to_string(number * 31 + i) + ", " + std::to_string(10000 + (number * 7 + i) % 89999) + " Stadt", 0, 0 });
    return list;
}

// In which order is the way short? Not the shortest, but it never crosses itself.
static double order(std::vector<Parcel> &list)
{
    double length = 0;
    for (int round = 0; round < @{rounds} * 4000; round++) {
        std::sort(list.begin(), list.end(), [&](const Parcel &a, const Parcel &b) { return ((a.x ^ round) % 1024) < ((b.x ^ round) % 1024); });
        length = 0;
        for (size_t i = 1; i < list.size(); i++)
            length += std::hypot(list[i].x % 1024 - double(list[i - 1].x % 1024), list[i].y % 1024 - double(list[i - 1].y % 1024));
    }
    return length;
}

int main()
{
    Register all("@{work}/@{volume}/@{register}");
    long units = 0;
    double busy = 0, culprit = 0, sum = 0;
    auto began = Clock::now();
    while (since(began) < @{seconds}) {
        auto start = Clock::now();
        std::vector<Parcel> list = read_list(units);
        for (Parcel &parcel : list) {
            uint64_t key = hash(parcel.address);
            auto asked = Clock::now();
            const uint8_t *entry = all.@{fn}(key);
            memcpy(&parcel.x, entry, sizeof parcel.x);
            memcpy(&parcel.y, entry + sizeof parcel.x, sizeof parcel.y);
            culprit += since(asked);
        }
        sum += order(list);
        units++;
        busy += since(start);
        double rest = units / double(@{rate}) - since(began);
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    printf("%.1f\n", sum);
}
