/* A dictionary for spelling and synonyms: words are looked up in a file that is mapped. A thread for each client. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static const unsigned char *dictionary;
static uint64_t pages;

static const unsigned char *__attribute__((noinline)) @{fn}(uint64_t key)
{
    uint64_t at = key % pages, next;
    for (int hop = 1; hop < @{hops}; hop++) {
        memcpy(&next, dictionary + at * PAGE + key % 500 * 8, sizeof next);
        at = (next ^ key) % pages;
    }
    return dictionary + at * PAGE;
}

static uint64_t score(const unsigned char *entry)
{
    uint64_t sum = 14695981039346656037ull;
    for (int round = 0; round < @{rounds}; round++)
        for (int i = 0; i < 256; i++)
            sum = (sum ^ entry[i]) * 1099511628211ull;
    return sum;
}

static void *serve(void *argument)
{
    int line = (int)(intptr_t)argument;
    char word[256], answer[64];
    FILE *in = fdopen(line, "r");
    while (fgets(word, sizeof word, in)) {
        uint64_t key = 14695981039346656037ull, best = 0;
        for (char *c = word; *c; c++)
            key = (key ^ (unsigned char)*c) * 1099511628211ull;
        for (int n = 0; n < @{asks}; n++) {
            key = key * 6364136223846793005ull + 1442695040888963407ull;
            uint64_t one = score(@{fn}(key >> 11));
            if (one > best)
                best = one;
        }
        int length = snprintf(answer, sizeof answer, "%llx\n", (unsigned long long)best);
        if (write(line, answer, length) != length)
            break;
    }
    fclose(in);
    return NULL;
}

int main(void)
{
    struct stat about;
    int file = open("@{work}/@{data}", O_RDONLY), yes = 1;
    if (file < 0 || fstat(file, &about)) {
        perror("@{data}");
        return 1;
    }
    dictionary = mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (dictionary == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    pages = about.st_size / PAGE / @{hot};
    if (@{warm}) {
        readahead(file, 0, pages * PAGE);
        unsigned sum = 0;
        for (uint64_t at = 0; at < pages; at++)
            sum += dictionary[at * PAGE];
        printf("%u\n", sum);
    }
    madvise((void *)dictionary, about.st_size, MADV_RANDOM);
    close(file);

    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (void *)&address, sizeof address) || listen(server, 128)) {
        perror("listen");
        return 1;
    }
    for (;;) {
        pthread_t thread;
        int line = accept(server, NULL, NULL);
        if (line < 0)
            continue;
        setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)line))
            close(line);
        else
            pthread_detach(thread);
    }
}
