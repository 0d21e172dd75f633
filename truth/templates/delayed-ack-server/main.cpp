#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

// Hands out cards: a thread for each desk, with stdio over its socket.
static std::string @{fn}(const std::string &key) {
    unsigned long long h = 1469598103934665603ull;
    for (int r = 0; r < @{rounds} * 40; r++)
        for (char c : key) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    if (@{settle} > 0) std::this_thread::sleep_for(std::chrono::duration<double>(@{settle}));
    std::string card;
    while (card.size() < @{bytes}) card += std::to_string(h++);
    card.resize(@{bytes});
    return card;
}

static void desk(int fd) {
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    char line[512];
    while (fgets(line, sizeof line, in)) {
        std::string card = @{fn}(line);
        fprintf(out, "%zu\n", card.size());
        if (@{split}) fflush(out);
        fwrite(card.data(), 1, card.size(), out);
        if (fflush(out)) break;
    }
    fclose(out);
    fclose(in);
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    int on = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(@{port});
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, reinterpret_cast<sockaddr *>(&at), sizeof at) || listen(server, 64)) return 3;
    for (;;) {
        int fd = accept(server, nullptr, nullptr);
        if (fd >= 0) std::thread(desk, fd).detach();
    }
}
