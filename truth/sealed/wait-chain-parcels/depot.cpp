// The depot's shelves: "place N" finds one for a parcel, and answers with its number. A list of all is made again and again.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

class Depot {
public:
    Depot() : shelves(@{shelves}) {}

    size_t place(long parcel)
    {
        std::lock_guard<std::mutex> guard(lock);
        size_t best = parcel % shelves.size();
        for (size_t i = 0; i < shelves.size(); i++)
            if (shelves[i] < shelves[best])
                best = i;
        shelves[best]++;
        return best;
    }

    void @{fn2}();

private:
    static void write_list(const std::vector<long> &shelves);
    std::mutex lock;
    std::vector<long> shelves;
};

void Depot::write_list(const std::vector<long> &shelves)
{
    int file = open("@{work}/@{list}", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return std::perror("list");
    for (int section = 0; section < @{sections}; section++) {
        std::string text = "section " + std::to_string(section) + "\n";
        for (size_t i = section; i < shelves.size(); i += @{sections})
            text += std::to_string(i) + ";" + std::to_string(shelves[i]) + "\n";
        if (write(file, text.data(), text.size()) < 0)
            std::perror("list");
        // The scanners share the disk.
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(@{breath}));
    }
    fdatasync(file);
    close(file);
}

__attribute__((noinline)) void Depot::@{fn2}()
{
    std::unique_lock<std::mutex> guard(lock);
    const std::vector<long> copy = shelves;
    if (std::string("@{locked}") == "copy")
        guard.unlock();
    write_list(copy);
}

static void serve(Depot &depot, int client)
{
    char line[64];
    for (ssize_t n; (n = recv(client, line, sizeof line - 1, 0)) > 0;) {
        line[n] = 0;
        n = std::snprintf(line, sizeof line, "%zu\n", depot.place(std::atol(line + 6)));
        if (send(client, line, n, MSG_NOSIGNAL) < 0)
            break;
    }
    close(client);
}

int main()
{
    const int on = 1, door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{depot});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 64)) {
        std::perror("depot");
        return 1;
    }
    Depot depot;
    std::thread([&depot] {
        for (;;) {
            depot.@{fn2}();
            std::this_thread::sleep_for(std::chrono::duration<double>(@{pause}));
        }
    }).detach();
    for (;;) {
        int client = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        std::thread(serve, std::ref(depot), client).detach();
    }
}
