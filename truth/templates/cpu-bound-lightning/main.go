package main

import (
	"fmt"
	"math/rand"
	"os"
	"sort"
	"time"
)

// A country is the square from 0 to 1.
type strike struct {
	x, y, peak float64
	storm      int
}

type storms struct{ parent []int }

func (s *storms) of(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

func (s *storms) join(i, j int) { s.parent[s.of(j)] = s.of(i) }

func near(a, b *strike) bool {
	dx, dy := a.x-b.x, a.y-b.y
	return dx*dx+dy*dy < @{radius}*@{radius}
}

//go:noinline
func @{fn}(strikes []strike, s *storms) {
	for i := range strikes {
		for j := range strikes {
			if i != j && near(&strikes[i], &strikes[j]) {
				s.join(i, j)
			}
		}
	}
}

func byCells(strikes []strike, s *storms) {
	radius := @{radius}
	side := int(1/radius) + 3
	cells := make([]int32, side*side)
	for i := range cells {
		cells[i] = -1
	}
	next := make([]int32, len(strikes))
	at := func(v float64) int { return int(v/radius) + 1 }
	for i := range strikes {
		x, y := at(strikes[i].x), at(strikes[i].y)
		for cx := x - 1; cx <= x+1; cx++ {
			for cy := y - 1; cy <= y+1; cy++ {
				if cx < 0 || cy < 0 || cx >= side || cy >= side {
					continue
				}
				for j := cells[cx*side+cy]; j >= 0; j = next[j] {
					if near(&strikes[i], &strikes[j]) {
						s.join(i, int(j))
					}
				}
			}
		}
		next[i], cells[x*side+y] = cells[x*side+y], int32(i)
	}
}

func sweep(chance *rand.Rand, count int) []strike {
	list := make([]strike, count)
	for i := range list {
		list[i] = strike{x: chance.Float64(), y: chance.Float64(), peak: chance.ExpFloat64() * 20}
	}
	return list
}

// The strongest storms, for the bulletin.
func bulletin(strikes []strike, s *storms) string {
	power := map[int]float64{}
	for i := range strikes {
		strikes[i].storm = s.of(i)
		power[strikes[i].storm] += strikes[i].peak
	}
	names := make([]int, 0, len(power))
	for name := range power {
		names = append(names, name)
	}
	sort.Slice(names, func(a, b int) bool { return power[names[a]] > power[names[b]] })
	text := ""
	for i := 0; i < len(names) && i < 5; i++ {
		text += fmt.Sprintf("storm %d: %.0f kA\n", names[i], power[names[i]])
	}
	return text
}

func main() {
	chance := rand.New(rand.NewSource(@{seed}))
	began := time.Now()
	var busy, culprit time.Duration
	units, written := 0, 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		// An antenna of this network sees the whole sky, in both polarisations.
		strikes := sweep(chance, @{used}*4)
		s := &storms{make([]int, len(strikes))}
		for i := range s.parent {
			s.parent[i] = i
		}
		grouping := time.Now()
		if @{grid} == 1 {
			byCells(strikes, s)
		} else {
			@{fn}(strikes, s)
		}
		culprit += time.Since(grouping)
		written += len(bulletin(strikes, s))
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	fmt.Println(written, "bytes of bulletins")
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
