/* Delivers chat messages to other domains: where each of them takes them is asked of the name servers. */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netinet/in.h>
#include <pthread.h>
#include <resolv.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct deliverer {
    pthread_t thread;
    struct __res_state names;
    long units, bounced;
    double busy, looking;
};

static atomic_long next_message = 1;
static double began;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void use_servers(struct __res_state *names)
{
    static const char *servers[] = { "@{ns}", "@{second}" };

    res_ninit(names);
    names->nscount = 2;
    names->retrans = 1;
    names->retry = 2;
    for (int i = 0; i < 2; i++) {
        names->nsaddr_list[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(53) };
        inet_pton(AF_INET, servers[i], &names->nsaddr_list[i].sin_addr);
    }
}

/* The best route to a domain; 0 if there is none. */
static int __attribute__((noinline)) @{fn}(struct __res_state *names, const char *domain, char *target, size_t size)
{
    unsigned char answer[1500];
    char name[200];
    ns_msg message;
    ns_rr entry;
    int best = 0;

    snprintf(name, sizeof name, "_xmpp-server._tcp.%s", domain);
    int length = res_nquery(names, name, ns_c_in, ns_t_srv, answer, sizeof answer);
    if (length < 0 || ns_initparse(answer, length, &message))
        return 0;
    for (int i = 0; i < ns_msg_count(message, ns_s_an); i++) {
        if (ns_parserr(&message, ns_s_an, i, &entry) || ns_rr_type(entry) != ns_t_srv)
            continue;
        int priority = ns_get16(ns_rr_rdata(entry));
        if (best && best <= priority)
            continue;
        best = priority;
        dn_expand(answer, answer + length, ns_rr_rdata(entry) + 6, target, size);
    }
    return best;
}

static unsigned long long mark(const char *text)
{
    unsigned long long mark = 14695981039346656037u;
    for (int round = 0; round < 20; round++)
        for (const char *at = text; *at; at++)
            mark = (mark ^ (unsigned char)*at) * 1099511628211u;
    return mark;
}

static void *deliver(void *argument)
{
    struct deliverer *me = argument;
    char domain[120], target[256], stanza[400];
    unsigned long long sum = 0;

    use_servers(&me->names);
    while (now() - began < @{seconds}) {
        long number = atomic_fetch_add(&next_message, 1);
        double rest = began + number / (double)@{rate} - now();
        if (rest > 0)
            usleep(rest * 1e6);
        double start = now();
        snprintf(domain, sizeof domain, "d%ld.@{zone}", number);
        if (!@{fn}(&me->names, domain, target, sizeof target)) {
            me->bounced++;
            target[0] = 0;
        }
        me->looking += now() - start;
        snprintf(stanza, sizeof stanza, "<message to='user@%s'><via>%s</via><body>%ld</body></message>", domain, target, number);
        sum ^= mark(stanza);
        me->units++;
        me->busy += now() - start;
    }
    printf("%ld delivered, %ld bounced, %llx\n", me->units, me->bounced, sum);
    res_nclose(&me->names);
    return NULL;
}

int main(void)
{
    static struct deliverer all[@{deliverers}];
    const int count = sizeof all / sizeof *all;
    double busy = 0, looking = 0;
    long units = 0;

    began = now();
    for (int i = 0; i < count; i++)
        pthread_create(&all[i].thread, NULL, deliver, &all[i]);
    for (int i = 0; i < count; i++) {
        pthread_join(all[i].thread, NULL);
        units += all[i].units;
        busy += all[i].busy;
        looking += all[i].looking;
    }
    FILE *out = fopen("@{report}", "w");
    if (!out)
        return 1;
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, looking);
    fclose(out);
    return 0;
}
