// Formats records, 1,000 to a file, and moves each file to its place when it is full: abs_format FOLDER SECONDS.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

static std::string format_record(long number) {
    char stamp[32];
    std::time_t now = std::time(nullptr);
    std::strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", std::localtime(&now));
    char record[96];
    std::snprintf(record, sizeof record, "%s ad=%ld channel=%ld click=1 cost=%ld\n", stamp, number, number % 17, number % 101);
    return record;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const std::string folder = argv[1];
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
    long records = 0, files = 0;
    while (std::chrono::steady_clock::now() < end) {
        const std::string part = folder + "/part", done = folder + "/task." + std::to_string(files % 100);
        std::FILE *out = std::fopen(part.c_str(), "w");
        if (!out) return 1;
        for (int i = 0; i < 1000; i++) {
            const std::string record = format_record(records++);
            std::fwrite(record.data(), 1, record.size(), out);
        }
        std::fclose(out);
        std::rename(part.c_str(), done.c_str());
        files++;
    }
    std::printf("%ld records in %ld files\n", records, files);
}
