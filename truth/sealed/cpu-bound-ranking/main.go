// Keeps the ranking of a league: a result moves a player.
package main

import (
	"fmt"
	"os"
	"sort"
	"time"
)

type player struct {
	points int
	name   string
}

type ranking []player

var pointsOf = map[string]int{}

func (r ranking) before(a, b player) bool {
	if a.points != b.points {
		return a.points > b.points
	}
	return a.name < b.name
}

//go:noinline
func (r ranking) @{fnCamel}(at, points int) {
	if "@{keep}" == "sort" {
		pointsOf[r[at].name] = points
		i := 0
		for name, of := range pointsOf {
			r[i] = player{of, name}
			i++
		}
		sort.Slice(r, func(i, j int) bool { return r.before(r[i], r[j]) })
		return
	}
	p := r[at]
	p.points = points
	if r.before(p, r[at]) {
		place := sort.Search(at, func(i int) bool { return !r.before(r[i], p) })
		copy(r[place+1:at+1], r[place:at])
		r[place] = p
		return
	}
	place := at + sort.Search(len(r)-at-1, func(i int) bool { return !r.before(r[at+1+i], p) })
	copy(r[at:place], r[at+1:place+1])
	r[place] = p
}

func (r ranking) top() (sum int) {
	for i := 0; i < @{top} && i < len(r); i++ {
		sum += r[i].points
	}
	return sum
}

func main() {
	r := make(ranking, @{players})
	for i := range r {
		r[i] = player{i * 7919 % 1000003, fmt.Sprint("player ", i)}
	}
	sort.Slice(r, func(i, j int) bool { return r.before(r[i], r[j]) })
	for _, p := range r {
		pointsOf[p.name] = p.points
	}
	random := uint64(88172645463325252)
	units, sum := 0, 0
	var busy, culprit time.Duration
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		asked := time.Now()
		r.@{fnCamel}(int(random%@{players}), int((random>>20)%1000003))
		culprit += time.Since(asked)
		sum += r.top()
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())), 0o644)
	fmt.Println(sum)
}
