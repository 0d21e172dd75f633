// Counts what the firewall drops, by source and by port, from its log.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct packet {
    char verdict[16], in[16], out[16], protocol[8];
    unsigned source, target, mac[6], length, tos, prec, ttl, id, from_port, to_port, window, res;
    int day, hour, minute, second;
};

static char buffer[1 << 17];
static unsigned long by_port[65536], by_source[4096];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static unsigned address(const char *text)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    sscanf(text, "%u.%u.%u.%u", &a, &b, &c, &d);
    return a << 24 | b << 16 | c << 8 | d;
}

static void number(const char *value, const char *form, unsigned *into)
{
    sscanf(value, form, into);
}

static int __attribute__((noinline)) @{fn}(char *line, struct packet *p)
{
    char month[4], *rest = NULL;

    memset(p, 0, sizeof *p);
    sscanf(line, "<%*d>%3s %d %d:%d:%d", month, &p->day, &p->hour, &p->minute, &p->second);
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        if (!strcmp(word, "VERDICT")) sscanf(value, "%15s", p->verdict);
        else if (!strcmp(word, "IN")) sscanf(value, "%15s", p->in);
        else if (!strcmp(word, "OUT")) sscanf(value, "%15s", p->out);
        else if (!strcmp(word, "PROTO")) sscanf(value, "%7s", p->protocol);
        else if (!strcmp(word, "SRC")) p->source = address(value);
        else if (!strcmp(word, "DST")) p->target = address(value);
        else if (!strcmp(word, "MAC")) sscanf(value, "%x:%x:%x:%x:%x:%x", p->mac, p->mac + 1, p->mac + 2, p->mac + 3, p->mac + 4, p->mac + 5);
        else if (!strcmp(word, "LEN")) number(value, "%u", &p->length);
        else if (!strcmp(word, "TOS")) number(value, "%x", &p->tos);
        else if (!strcmp(word, "PREC")) number(value, "%x", &p->prec);
        else if (!strcmp(word, "TTL")) number(value, "%u", &p->ttl);
        else if (!strcmp(word, "ID")) number(value, "%u", &p->id);
        else if (!strcmp(word, "SPT")) number(value, "%u", &p->from_port);
        else if (!strcmp(word, "DPT")) number(value, "%u", &p->to_port);
        else if (!strcmp(word, "WINDOW")) number(value, "%u", &p->window);
        else if (!strcmp(word, "RES")) number(value, "%x", &p->res);
    }
    return !strcmp(p->verdict, "DROP");
}

// Only what is asked for, and only of the lines that were dropped.
static int places(const char *line, struct packet *p)
{
    const char *at = strstr(line, "VERDICT=");
    if (!at || at[8] != 'D')
        return 0;
    if (!(at = strstr(at, "SRC=")))
        return 0;
    char *end = (char *)at + 3;
    p->source = 0;
    for (int i = 0; i < 4; i++)
        p->source = p->source << 8 | strtoul(end + 1, &end, 10);
    if (!(at = strstr(end, "DPT=")))
        return 0;
    p->to_port = atoi(at + 4);
    return 1;
}

int main(void)
{
    int fields = !strcmp("@{way}", "fields");
    int log = open("@{work}/@{log}", O_RDONLY);
    double began = now(), busy = 0, culprit = 0;
    size_t have = 0;
    long units = 0;
    ssize_t got;

    while (now() - began < @{seconds} && (got = read(log, buffer + have, sizeof buffer - have - 1)) > 0) {
        double start = now();
        struct packet p;
        char *line = buffer, *end;

        have += got;
        buffer[have] = 0;
        while ((end = memchr(line, '\n', buffer + have - line))) {
            *end = 0;
            if (fields ? @{fn}(line, &p) : places(line, &p)) {
                by_port[p.to_port & 65535]++;
                by_source[(p.source * 2654435761u) >> 20]++;
            }
            units++;
            line = end + 1;
        }
        culprit += now() - start;
        have -= line - buffer;
        memmove(buffer, line, have);
        busy += now() - start;
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"ssh\": %lu, \"seconds\": %f, \"culprit\": %f}", units, by_port[22], busy, culprit);
    return fclose(out);
}
