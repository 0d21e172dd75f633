// Keeps the ranking of a league: a result moves a player.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Player {
    long points;
    std::string name;
};

static bool before(const Player &a, const Player &b)
{
    return a.points != b.points ? a.points > b.points : a.name < b.name;
}

class Ranking {
public:
    Ranking()
    {
        for (long i = 0; i < @{players}; i++)
            players_.push_back({ i * 7919 % 1000003, "player " + std::to_string(i) });
        std::sort(players_.begin(), players_.end(), before);
        for (const Player &player : players_)
            points_[player.name] = player.points;
    }

    __attribute__((noinline)) void @{fn}(size_t at, long points)
    {
        if (!strcmp("@{keep}", "sort")) {
            points_[players_[at].name] = points;
            players_.clear();
            for (const auto &[name, of] : points_)
                players_.push_back({ of, name });
            std::sort(players_.begin(), players_.end(), before);
            return;
        }
        Player player = players_[at];
        player.points = points;
        auto old = players_.begin() + at;
        if (before(player, *old)) {
            auto place = std::lower_bound(players_.begin(), old, player, before);
            std::rotate(place, old, old + 1);
            *place = player;
        } else {
            auto place = std::lower_bound(old + 1, players_.end(), player, before);
            std::rotate(old, old + 1, place);
            *(place - 1) = player;
        }
    }

    long top() const
    {
        long sum = 0;
        for (size_t i = 0; i < @{top} && i < players_.size(); i++)
            sum += players_[i].points;
        return sum;
    }

private:
    std::vector<Player> players_;
    std::unordered_map<std::string, long> points_;
};

int main()
{
    Ranking ranking;
    unsigned long random = 88172645463325252UL;
    double busy = 0, culprit = 0, began = now();
    long units = 0, sum = 0;

    while (now() - began < @{seconds}) {
        double start = now();
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t at = random % @{players};
        long points = static_cast<long>((random >> 20) % 1000003);
        double asked = now();
        ranking.@{fn}(at, points);
        culprit += now() - asked;
        sum += ranking.top();
        units++;
        busy += now() - start;
        double rest = began + units / static_cast<double>(@{rate}) - now();
        if (rest > 0)
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    }
    FILE *out = fopen("@{report}", "w");
    fprintf(out, "{\"units\": %ld, \"seconds\": %f, \"culprit\": %f}", units, busy, culprit);
    fclose(out);
    printf("%ld\n", sum);
}
