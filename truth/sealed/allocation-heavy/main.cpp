#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void wait_until(double due)
{
    double rest = due - now();
    if (rest > 0) {
        struct timespec pause = { (time_t)rest, (long)((rest - (time_t)rest) * 1e9) };
        nanosleep(&pause, NULL);
    }
}

static void report_times(long units, double busy)
{
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f}", units, busy);
    fclose(out);
}
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A claim as it came by mail: its fields by name, in the order of the form.
using Claim = std::map<std::string, std::string>;

static const char *names[] = { "claimant_of_the_first_part", "policy_number_and_branch", "date_of_the_accident", "street_and_house_number",
                               "amount_that_is_claimed", "expert_in_charge_of_it", "remarks_of_the_expert", "account_to_be_paid_to" };

static std::string mail;

static std::vector<std::shared_ptr<Claim>> __attribute__((noinline)) @{fn}(int count)
{
    std::vector<std::shared_ptr<Claim>> claims;
    for (int i = 0; i < count; i++) {
        auto claim = std::make_shared<Claim>();
        for (int n = 0; n < @{fields}; n++)
            claim->emplace(names[n], mail.substr((i * 31 + n) % 900, 16 + (i + n) % @{length}));
        claims.push_back(std::move(claim));
    }
    return claims;
}

struct View {
    std::string_view fields[8];
};

static std::vector<View> views;

static size_t in_place(int count)
{
    size_t longest = 0;
    views.resize(count);
    for (int i = 0; i < count; i++)
        for (int n = 0; n < @{fields}; n++) {
            views[i].fields[n] = std::string_view(mail).substr((i * 31 + n) % 900, 16 + (i + n) % @{length});
            longest = std::max(longest, views[i].fields[n].size());
        }
    return longest;
}

int main()
{
    double busy = 0, began = now();
    long units = 0;
    size_t sum = 0;
    for (int i = 0; i < 1200; i++)
        mail += (char)('a' + i * 7 % 26);
    while (now() - began < @{seconds}) {
        double start = now();
        if (@{reuse}) {
            sum += in_place(@{used});
        } else {
            size_t longest = 0;
            for (auto &claim : @{fn}(@{used}))
                longest = std::max(longest, claim->begin()->second.size());
            sum += longest;
        }
        units++;
        busy += now() - start;
        wait_until(began + units / (double)@{rate});
    }
    report_times(units, busy);
    printf("%zu\n", sum);
}
