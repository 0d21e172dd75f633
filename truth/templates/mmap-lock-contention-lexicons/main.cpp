// A lexicon: the words are in an arena that nobody may write to by mistake, the images of the printed pages are in a file.
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

static const size_t PAGE = 4096, ARENA = @{arena_mb}ul << 20;
static const Clock::time_point BEGAN = Clock::now();
static bool going() { return since(BEGAN) < @{seconds}; }

struct Tally { long units = 0; double busy = 0, mapping = 0; uint64_t sum = 0; };

class Arena {
    char *words;
public:
    Arena() {
        words = (char *)mmap(nullptr, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (words == MAP_FAILED) { perror("arena"); exit(1); }
        for (size_t at = 0; at < ARENA; at += PAGE) snprintf(words + at, 64, "entry %zu: see entry %zu", at / PAGE, at / PAGE * 31 % 9973);
        mprotect(words, ARENA, PROT_READ);
    }
    const char *find(uint64_t hash) const { return words + hash % (ARENA / PAGE) * PAGE; }

    __attribute__((noinline)) void @{fn2}(long number) {
        size_t at = (size_t)number * 7919 % (ARENA / PAGE) * PAGE;
        bool whole = std::string("@{sealing}") == "arena";
        char *from = whole ? words : words + at;
        size_t length = whole ? ARENA : PAGE;
        mprotect(from, length, PROT_READ | PROT_WRITE);
        snprintf(words + at + 64, 64, "corrected %ld times", number);
        mprotect(from, length, PROT_READ);
    }
};

struct Image { char *at; size_t length; };

static __attribute__((noinline)) Image @{fn}(int file, size_t length) {
    Image image{(char *)mmap(nullptr, length, PROT_READ, MAP_SHARED, file, 0), length};
    if (image.at == MAP_FAILED) { perror("@{images}"); exit(1); }
    return image;
}

static void look_up(const Arena &arena, int file, Tally &tally) {
    bool once = std::string("@{mapping}") == "once";
    size_t part = @{part_kb} * 1000;
    Image kept{nullptr, 0};
    auto began = Clock::now();
    for (long n = 1; going(); n++) {
        auto start = Clock::now();
        Image image = kept;
        if (!image.at) {
            image = @{fn}(file, part);
            tally.mapping += since(start);
        }
        uint64_t hash = 1469598103934665603ull + n;
        for (size_t at = 0; at < part; at++) hash = (hash ^ (unsigned char)image.at[at]) * 1099511628211ull;
        for (int i = 0; i < 200; i++) hash = hash * 31 + strlen(arena.find(hash));
        tally.sum += hash;
        if (once) kept = image;
        else {
            auto before = Clock::now();
            munmap(image.at, image.length);
            tally.mapping += since(before);
        }
        tally.units++;
        tally.busy += since(start);
        std::this_thread::sleep_until(began + std::chrono::microseconds(n * 1000000 / @{rate}));
    }
}

int main() {
    Arena arena;
    int file = open("@{work}/@{images}", O_RDONLY);
    std::vector<Tally> tallies(@{threads});
    std::vector<std::thread> threads;
    for (auto &tally : tallies) threads.emplace_back([&] { look_up(arena, file, tally); });
    if (@{fixes} > 0)
        for (long number = 0; going(); number++) {
            arena.@{fn2}(number);
            std::this_thread::sleep_for(std::chrono::microseconds(1000000 / (@{fixes} + 1)));
        }
    for (auto &thread : threads) thread.join();
    Tally all;
    for (auto &each : tallies) all.units += each.units, all.busy += each.busy, all.mapping += each.mapping, all.sum += each.sum;
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", all.units, all.busy, all.mapping);
    fclose(out);
    return all.sum == 42;
}
