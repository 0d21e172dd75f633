// The star catalogue of an observatory, for its telescopes: GET /stars/N says where a star is.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

constexpr size_t RECORD = 64, PIECE = @{piece}, NAME = 11;

class Catalogue {
public:
    explicit Catalogue(const char *path) : file(open(path, O_RDONLY | O_CLOEXEC)) {
        struct stat about;
        if (file < 0 || fstat(file, &about) != 0)
            throw std::runtime_error(path);
        count = about.st_size / RECORD;
        if (@{held}) {
            held.resize(count * RECORD);
            for (size_t done = 0; done < held.size();) {
                ssize_t n = pread(file, &held[done], held.size() - done, done);
                if (n <= 0)
                    throw std::runtime_error(path);
                done += n;
            }
        }
    }

    // The stars of the programme are all over the sky.
    std::string name_of(long number) const {
        char name[16];
        snprintf(name, sizeof name, "HX%09ld", number * 104729 % long(count) * 3 + 3);
        return name;
    }

    std::optional<std::string> find(const std::string &name) const { return @{held} ? halve(name) : @{fn}(name); }

private:
    // They are in the order of their names.
    std::optional<std::string> halve(const std::string &name) const {
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (held.compare(middle * RECORD, NAME, name) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == count)
            return std::nullopt;
        return held.substr(low * RECORD, RECORD);
    }

    __attribute__((noinline)) std::optional<std::string> @{fn}(const std::string &name) const {
        std::vector<char> piece(PIECE);
        off_t offset = 0;
        for (ssize_t n; (n = pread(file, piece.data(), piece.size(), offset)) > 0; offset += n)
            if (void *found = memmem(piece.data(), n, name.data(), name.size()))
                return std::string(static_cast<char *>(found), RECORD);
        return std::nullopt;
    }

    int file;
    size_t count = 0;
    std::string held;
};

static std::string answer(const std::optional<std::string> &star) {
    if (!star)
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    char name[16], kind[16], body[256], text[400];
    double right, declination, magnitude, parallax;
    if (sscanf(star->c_str(), "%15s %lf %lf %lf %lf %15s", name, &right, &declination, &magnitude, &parallax, kind) != 6)
        return "HTTP/1.1 422 Unprocessable\r\nContent-Length: 0\r\n\r\n";
    int size = snprintf(body, sizeof body, "{\"name\": \"%s\", \"ra\": %f, \"dec\": %f, \"mag\": %f, \"plx\": %f, \"class\": \"%s\"}", name, right, declination,
                        magnitude, parallax, kind);
    snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, body);
    return text;
}

static void serve(const Catalogue &catalogue, int telescope) {
    int on = 1;
    setsockopt(telescope, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string asked;
    char part[4096];
    for (ssize_t n; (n = read(telescope, part, sizeof part)) > 0;) {
        asked.append(part, n);
        for (size_t end; (end = asked.find("\r\n\r\n")) != std::string::npos; asked.erase(0, end + 4)) {
            size_t at = asked.find("/stars/");
            long number = at < end ? atol(asked.c_str() + at + 7) : 0;
            std::string text = answer(catalogue.find(catalogue.name_of(number)));
            if (write(telescope, text.data(), text.size()) < 0)
                break;
        }
    }
    close(telescope);
}

int main() {
    signal(SIGPIPE, SIG_IGN);
    Catalogue catalogue("@{work}/@{folder}/@{catalogue}");
    int door = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(@{port});
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(door, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 || listen(door, 64) != 0) {
        perror("listen");
        return 1;
    }
    for (;;) {
        int telescope = accept(door, nullptr, nullptr);
        if (telescope >= 0)
            std::thread(serve, std::cref(catalogue), telescope).detach();
    }
}
