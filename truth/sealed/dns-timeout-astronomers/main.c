/* Routes the night's observations to the observatories that asked for them. */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <math.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct observation {
    int dome;
    double ra, dec, magnitude;
};

static struct __res_state names;
static double asked;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void set_servers(char *servers)
{
    res_ninit(&names);
    names.nscount = 0;
    for (char *one = strtok(servers, " "); one && names.nscount < MAXNS; one = strtok(NULL, " ")) {
        struct sockaddr_in *to = &names.nsaddr_list[names.nscount++];
        memset(to, 0, sizeof *to);
        to->sin_family = AF_INET;
        to->sin_port = htons(53);
        inet_pton(AF_INET, one, &to->sin_addr);
    }
    names.retrans = @{wait_s};
    names.retry = 3;
    names.options &= ~(RES_ROTATE | RES_USE_EDNS0);
}

__attribute__((noinline)) static int @{fn}(const char *host, char *address)
{
    double start = now();
    unsigned char answer[1500];
    int found = 0, size = res_nquery(&names, host, ns_c_in, ns_t_a, answer, sizeof answer);
    ns_msg message;
    ns_rr record;
    if (size > 0 && ns_initparse(answer, size, &message) == 0)
        for (int i = 0; i < ns_msg_count(message, ns_s_an) && !found; i++)
            if (ns_parserr(&message, ns_s_an, i, &record) == 0 && ns_rr_type(record) == ns_t_a) {
                inet_ntop(AF_INET, ns_rr_rdata(record), address, INET_ADDRSTRLEN);
                found = 1;
            }
    asked += now() - start;
    return found;
}

static struct observation observe(int number)
{
    double t = number * 0.618034;
    struct observation o = {number, t * 24 - 24 * (long)t, t - (long)t, 6 + 12 * (t - (long)t)};
    return o;
}

/* Where the star stands above each of the domes, the minutes of the night through. */
static double altitude(const struct observation *o)
{
    double best = -1;
    for (int minute = 0; minute < @{rounds} * 20; minute++) {
        double hour = (minute % 600) * 0.0043633, latitude = 0.5 + 0.01 * (minute / 600);
        double high = o->dec * latitude + (1 - o->dec * o->dec / 2) * (1 - latitude * latitude / 2) * (1 - (hour - o->ra) * (hour - o->ra) / 2);
        if (high > best)
            best = high;
    }
    return best;
}

int main(void)
{
    char servers[] = "@{servers}";
    set_servers(servers);
    long units = 0, unknown = 0;
    double busy = 0, sum = 0, began = now();
    while (now() - began < @{seconds}) {
        double start = now();
        struct observation o = observe(units);
        char host[128], address[INET_ADDRSTRLEN];
        sum += altitude(&o);
        snprintf(host, sizeof host, "dome%d.@{zone}", o.dome);
        if (!@{fn}(host, address))
            unknown++;
        units++;
        busy += now() - start;
        double rest = began + units / (double)@{rate} - now();
        if (rest > 0) {
            struct timespec pause = {(time_t)rest, (long)((rest - (time_t)rest) * 1e9)};
            nanosleep(&pause, NULL);
        }
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f, \"unknown\": %ld, \"sum\": %f}", units, busy, asked, unknown, sum);
    return fclose(out);
}
