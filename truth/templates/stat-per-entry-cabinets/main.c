/* The file cabinet of a law firm: a thread for each clerk, who asks for cases by HTTP. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <ftw.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct page {
    long documents, bytes;
    char newest[64];
};

static atomic_int visits;
static __thread struct page *open_page;

static void add(struct page *page, const char *name, long bytes)
{
    page->documents++;
    page->bytes += bytes;
    if (strcmp(name, page->newest) > 0)
        snprintf(page->newest, sizeof page->newest, "%s", name);
}

static int on_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    if (kind == FTW_F)
        add(open_page, path + at->base, !strcmp("@{page}", "sizes") ? st->st_size : 0);
    return 0;
}

static void below(struct page *page, const char *path)
{
    char inner[4096];
    struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        if (entry->d_type == DT_REG) {
            add(page, entry->d_name, 0);
        } else if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            below(page, inner);
        }
    }
    closedir(folder);
}

static void __attribute__((noinline)) @{fn}(struct page *page, const char *root)
{
    if (!strcmp("@{walk}", "names")) {
        below(page, root);
    } else {
        open_page = page;
        nftw(root, on_entry, 24, FTW_PHYS);
    }
}

static void answer(FILE *out, long number)
{
    char root[4096], name[4200], body[512];
    struct page page = { 0 };
    snprintf(root, sizeof root, "@{work}/@{cabinets}/case-%ld", number % (@{last} + 1));
    snprintf(name, sizeof name, "%s/@{first}/%06d-visit.txt", root, ++visits);
    FILE *note = fopen(name, "w");
    if (note) {
        fprintf(note, "seen by a clerk\n");
        fclose(note);
    }
    @{fn}(&page, root);
    int n = snprintf(body, sizeof body, "{\"case\": %ld, \"documents\": %ld, \"bytes\": %ld, \"newest\": \"%s\"}\n", number, page.documents, page.bytes, page.newest);
    fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", n, body);
    fflush(out);
}

static void *serve(void *given)
{
    int fd = (int)(long)given, one = 1;
    char line[2048];
    long number = -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    FILE *in = fdopen(fd, "r"), *out = fdopen(dup(fd), "w");
    while (fgets(line, sizeof line, in)) {
        if (sscanf(line, "GET /cases/%ld", &number) == 1)
            continue;
        if (line[0] == '\r' || line[0] == '\n')
            answer(out, number < 0 ? 0 : number);
    }
    fclose(in);
    fclose(out);
    return NULL;
}

int main(void)
{
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(@{port}), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    signal(SIGPIPE, SIG_IGN);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(door, (struct sockaddr *)&here, sizeof here) || listen(door, 64)) {
        perror("bind");
        return 1;
    }
    for (;;) {
        int client = accept(door, NULL, NULL);
        pthread_t clerk;
        if (client >= 0 && !pthread_create(&clerk, NULL, serve, (void *)(long)client))
            pthread_detach(clerk);
    }
}
