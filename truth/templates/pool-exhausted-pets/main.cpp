// The border post for pets: GET /pets/CHIP says whether one may enter. Each thread takes travellers off the door, and has a line of its own to the register of chips.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Register {
public:
    Register() : line(socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un there{};
        there.sun_family = AF_UNIX;
        strncpy(there.sun_path, "@{work}/@{register}", sizeof there.sun_path - 1);
        if (connect(line, reinterpret_cast<sockaddr *>(&there), sizeof there) != 0)
            throw std::runtime_error("no register");
    }

    __attribute__((noinline)) std::string @{fn}(long chip) {
        std::string text = "{\"chip\":" + std::to_string(chip) + "}";
        uint16_t size = htons(text.size());
        text.insert(0, reinterpret_cast<char *>(&size), sizeof size);
        if (write(line, text.data(), text.size()) != ssize_t(text.size()))
            throw std::runtime_error("the register is gone");
        exactly(&size, sizeof size);
        std::string answer(ntohs(size), 0);
        exactly(answer.data(), answer.size());
        return answer;
    }

private:
    void exactly(void *into, size_t size) {
        if (recv(line, into, size, MSG_WAITALL) != ssize_t(size))
            throw std::runtime_error("the register is gone");
    }
    int line;
};

static long field(const std::string &text, const char *name) {
    size_t at = text.find(name);
    return at == std::string::npos ? 0 : atol(text.c_str() + at + strlen(name));
}

static std::string judge(const std::string &pet) {
    if (pet.find("\"rabies\":true") == std::string::npos)
        return "{\"enter\": false, \"why\": \"no vaccination\"}";
    return "{\"enter\": true, \"species\": " + std::to_string(field(pet, "\"species\":")) + ", \"until\": " + std::to_string(field(pet, "\"until\":")) + "}";
}

static void receive(Register &chips, int traveller) {
    std::string asked;
    char part[2048];
    while (asked.find("\r\n\r\n") == std::string::npos) {
        ssize_t n = read(traveller, part, sizeof part);
        if (n <= 0)
            return;
        asked.append(part, n);
    }
    std::string body = judge(chips.@{fn}(field(asked, "/pets/")));
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    if (write(traveller, text.data(), text.size()) < 0)
        perror("traveller");
}

static void officer(int door, int number) {
    pthread_setname_np(pthread_self(), ("officer-" + std::to_string(number)).c_str());
    Register chips;
    for (;;) {
        int traveller = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
        if (traveller < 0)
            continue;
        receive(chips, traveller);
        close(traveller);
    }
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(door, 256) != 0) {
        perror("listen");
        return 1;
    }
    std::vector<std::thread> officers;
    for (int number = 0; number < @{threads}; number++)
        officers.emplace_back(officer, door, number);
    for (std::thread &thread : officers)
        thread.join();
}
