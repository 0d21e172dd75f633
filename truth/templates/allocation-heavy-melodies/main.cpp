// Finds the melodies of a song book that sound like what somebody hummed.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <list>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace std::chrono;
constexpr std::string_view way = "@{way}";

struct Note {
    int pitch, beat;
};

using Tune = std::list<Note>;

struct Melody {
    std::string title;
    std::vector<int> pitches;
    std::vector<Tune> keys;
};

[[gnu::noinline]] Tune @{fn}(const std::vector<int> &pitches, int key)
{
    Tune tune;
    int beat = 0;
    for (int pitch : pitches)
        tune.push_back({pitch + key, beat++});
    return tune;
}

long distance(const Tune &tune, const std::vector<int> &hum)
{
    long sum = 0;
    for (const Note &note : tune)
        sum += std::abs(note.pitch - hum[note.beat]);
    return sum;
}

class Book {
public:
    explicit Book(const std::string &path)
    {
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);) {
            std::istringstream words(line);
            Melody melody;
            words >> melody.title;
            for (int pitch; words >> pitch;)
                melody.pitches.push_back(pitch);
            for (int key = 0; key < @{keys} && way == "early"; key++)
                melody.keys.push_back(@{fn}(melody.pitches, key));
            melodies.push_back(std::move(melody));
        }
    }

    const Melody &at(size_t number) const { return melodies[number % melodies.size()]; }

    const Melody &best(const std::vector<int> &hum) const
    {
        const Melody *best = nullptr;
        long least = 0;
        for (const Melody &melody : melodies)
            for (int key = 0; key < @{keys}; key++)
                if (long far = away(melody, key, hum); !best || far < least) {
                    best = &melody;
                    least = far;
                }
        return *best;
    }

private:
    static long away(const Melody &melody, int key, const std::vector<int> &hum)
    {
        if (way == "lists")
            return distance(@{fn}(melody.pitches, key), hum);
        if (way == "early")
            return distance(melody.keys[key], hum);
        long sum = 0;
        for (size_t beat = 0; beat < melody.pitches.size(); beat++)
            sum += std::abs(melody.pitches[beat] + key - hum[beat]);
        return sum;
    }

    std::vector<Melody> melodies;
};

int main()
{
    Book book("@{work}/@{book}");
    size_t units = 0, found = 0;
    duration<double> busy{0};
    auto began = steady_clock::now();
    while (duration<double>(steady_clock::now() - began).count() < @{seconds}) {
        auto start = steady_clock::now();
        const Melody &sung = book.at(units * 7);
        std::vector<int> hum;
        hum.reserve(sung.pitches.size());
        for (int pitch : sung.pitches)
            hum.push_back(pitch + int(units % 5) + int(hum.size() * units % 3) - 1);
        found += &book.best(hum) == &sung;
        units++;
        busy += steady_clock::now() - start;
        std::this_thread::sleep_until(began + duration_cast<steady_clock::duration>(duration<double>(units / double(@{rate}))));
    }
    std::cerr << found << " of " << units << " hums found\n";
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy.count() << "}";
}
