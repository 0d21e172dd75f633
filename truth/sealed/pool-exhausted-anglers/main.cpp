// Sells fishing licences: GET /licence/N. Whoever is at the door goes into a queue, from which a pool of desks takes one after the other; each desk
// has a line to the keeper of the waters.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Queue {
    std::mutex guard;
    std::condition_variable some;
    std::deque<int> anglers;

public:
    void put(int angler)
    {
        {
            std::lock_guard<std::mutex> held(guard);
            anglers.push_back(angler);
        }
        some.notify_one();
    }

    int take()
    {
        std::unique_lock<std::mutex> held(guard);
        some.wait(held, [this] { return !anglers.empty(); });
        int angler = anglers.front();
        anglers.pop_front();
        return angler;
    }
};

class Keeper {
    int line = -1;

    void all(void *to, size_t length)
    {
        for (size_t have = 0; have < length;) {
            ssize_t got = recv(line, static_cast<char *>(to) + have, length - have, 0);
            if (got <= 0)
                throw std::runtime_error("the keeper hung up");
            have += got;
        }
    }

public:
    Keeper()
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        strcpy(address.sun_path, "@{work}/@{sock}");
        timeval limit{8, 0};
        line = socket(AF_UNIX, SOCK_STREAM, 0);
        setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        if (connect(line, reinterpret_cast<sockaddr *>(&address), sizeof address))
            throw std::runtime_error("no keeper");
    }

    __attribute__((noinline)) std::string @{fn}(const std::string &question)
    {
        uint32_t length = htonl(question.size());
        std::string frame(reinterpret_cast<char *>(&length), 4);
        frame += question;
        if (send(line, frame.data(), frame.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(frame.size()))
            throw std::runtime_error("the keeper hung up");
        all(&length, 4);
        std::string answer(ntohl(length), ' ');
        all(&answer[0], answer.size());
        return answer;
    }
};

// The seal of a licence, derived in many turns so that nobody guesses it.
static std::string seal(long number)
{
    uint64_t sum = number * 0x9e3779b97f4a7c15u;
    for (int turn = 0; turn < @{turns} * 1000; turn++)
        sum = (sum ^ sum >> 29) * 0xbf58476d1ce4e5b9u + turn;
    char text[20];
    snprintf(text, sizeof text, "%016lx", static_cast<unsigned long>(sum));
    return text;
}

static void sell(int angler, Keeper &keeper)
{
    std::string request;
    char piece[2048];
    while (request.find("\r\n\r\n") == std::string::npos) {
        ssize_t got = recv(angler, piece, sizeof piece, 0);
        if (got <= 0)
            return;
        request.append(piece, got);
    }
    long number = atol(request.c_str() + request.find("/licence/") + 9);
    std::string said = keeper.@{fn}("{\"lake\":" + std::to_string(number % @{lakes}) + ",\"angler\":" + std::to_string(number) + "}");
    std::string body = "{\"licence\":" + std::to_string(number) + ",\"seal\":\"" + seal(number) + "\",\"waters\":" + said + "}";
    std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
    send(angler, answer.data(), answer.size(), MSG_NOSIGNAL);
}

static void desk(Queue &queue)
{
    Keeper keeper;
    for (;;) {
        int angler = queue.take();
        timeval limit{20, 0};
        setsockopt(angler, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sell(angler, keeper);
        close(angler);
    }
}

int main()
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(@{port});
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(door, 128)) {
        perror("door");
        return 1;
    }
    Queue queue;
    std::vector<std::thread> desks;
    for (int i = 0; i < @{workers}; i++)
        desks.emplace_back(desk, std::ref(queue));
    for (;;) {
        int angler = accept(door, nullptr, nullptr);
        if (angler >= 0)
            queue.put(angler);
    }
}
