// Simulates how people leave a stadium: `board 17` in, how long it takes out. The fields of the simulation come from a pool.
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Clock = std::chrono::steady_clock;
constexpr size_t SECTOR = 4096, SECTORS = (size_t(@{mb}) << 20) / SECTOR;

struct Field {
    unsigned char *cells;
    Clock::time_point used = Clock::now();
    bool held = true;

    Field() : cells(static_cast<unsigned char *>(mmap(nullptr, SECTOR * SECTORS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
    {
        if (cells == MAP_FAILED)
            abort();
        cells[0] = 1;
    }
    unsigned char *sector(size_t number) { return cells + number % SECTORS * SECTOR; }
};

class Fields {
    std::mutex lock;
    std::vector<Field *> free;

    __attribute__((noinline)) void @{fn}(Field *field)
    {
        madvise(field->cells, SECTOR * SECTORS, MADV_DONTNEED);
        field->held = false;
    }

  public:
    Fields()
    {
        for (int i = 0; i < @{boards} + @{spares}; i++)
            free.push_back(new Field);
    }

    Field *take()
    {
        std::lock_guard<std::mutex> hold(lock);
        if (free.empty())
            return new Field;
        Field *field = free.back();
        free.pop_back();
        return field;
    }

    void give(Field *field)
    {
        field->used = Clock::now();
        if (@{idle} == 0)
            @{fn}(field);
        std::lock_guard<std::mutex> hold(lock);
        free.push_back(field);
    }

    void tidy()
    {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            std::lock_guard<std::mutex> hold(lock);
            for (Field *field : free)
                if (field->held && std::chrono::duration<double>(Clock::now() - field->used).count() > @{idle})
                    @{fn}(field);
        }
    }
};

static Fields fields;

// All seats are taken, all ways are free; then a part of the people is followed to the gates.
__attribute__((noinline)) static unsigned long @{fn2}(Field *field, unsigned long stadium)
{
    unsigned char seats[@{cover}];
    for (size_t i = 0; i < sizeof seats; i++)
        seats[i] = 1 + (stadium * 31 + i * 7) % 200;
    for (size_t number = 0; number < SECTORS; number++)
        memcpy(field->sector(number), seats, sizeof seats);
    field->held = true;
    unsigned long minutes = stadium;
    for (size_t person = 0; person < @{marks} * 3; person++) {
        unsigned char *at = field->sector(person * 7919);
        for (size_t step = 0; step < sizeof seats; step++) {
            minutes = (minutes ^ at[step]) * 1099511628211ul;
            at[step] = 0;
        }
    }
    return minutes % 90;
}

static void serve(int line)
{
    char text[256];
    for (ssize_t got; (got = read(line, text, sizeof text - 1)) > 0;) {
        text[got] = 0;
        const char *number = strchr(text, ' ');
        Field *field = fields.take();
        unsigned long minutes = @{fn2}(field, number ? strtoul(number, nullptr, 10) : 0);
        fields.give(field);
        std::string answer = "empty after " + std::to_string(minutes) + " minutes\n";
        if (write(line, answer.data(), answer.size()) < 0)
            break;
    }
    close(line);
}

int main()
{
    signal(SIGPIPE, SIG_IGN);
    if (@{idle} > 0)
        std::thread([] { fields.tidy(); }).detach();
    int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64))
        return 1;
    for (int line; (line = accept(door, nullptr, nullptr)) >= 0;)
        std::thread(serve, line).detach();
    return 1;
}
