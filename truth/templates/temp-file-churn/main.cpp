#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static double culprit;

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* The document as the converter wants it: from a file. */
static std::string __attribute__((noinline)) @{fn}(const std::string &document)
{
    double began = now();
    char name[] = "@{work}/@{folder}/@{stem}-XXXXXX";
    int fd = mkstemp(name);
    if (fd < 0)
        abort();
    for (size_t done = 0; done < document.size();) {
        ssize_t n = write(fd, document.data() + done, std::min<size_t>(document.size() - done, 32768));
        if (n < 0)
            abort();
        done += n;
    }
    close(fd);
    std::string text(document.size(), 0);
    std::ifstream(name).read(text.data(), text.size());
    unlink(name);
    culprit += now() - began;
    return text;
}

static unsigned @{fn2}(const std::string &text)
{
    unsigned words = 0;
    for (size_t i = 1; i < text.size() * @{extra} / 100; i += 4)
        words = words * 31 + text[i];
    return words;
}

int main()
{
    std::string document;
    for (int i = 0; i < @{size} * 64; i++)
        document += "line of text " + std::string(i % 5, 'x') + "\n";
    long units = 0;
    double busy = 0, began = now();
    unsigned sum = 0;
    while (now() - began < @{seconds}) {
        double start = now();
        int spool = @{spool};
        sum += spool && units % spool == 0 ? @{fn2}(@{fn}(document)) : @{fn2}(document);
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    std::ofstream("@{report}") << "{\"units\": " << units << ", \"seconds\": " << busy << ", \"culprit\": " << culprit << ", \"odd\": " << (sum & 1) << "}";
}
