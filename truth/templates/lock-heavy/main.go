package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

type tally struct {
	sync.Mutex
	byRoute map[uint32]int
	sent    [256]int
}

var total = tally{byRoute: map[uint32]int{}}

type parcel struct{ route, weight uint32 }

type sorter struct {
	units        int
	busy, waited float64
	seed         uint32
}

func (s *sorter) next() parcel {
	for i := 0; i < @{hold}; i++ {
		s.seed = s.seed*1664525 + 1013904223
	}
	return parcel{s.seed >> 24, s.seed & 1023}
}

//go:noinline
func (s *sorter) @{fnCamel}(count int) {
	for i := 0; i < count; i++ {
		p := s.next()
		if i&15 == 0 {
			at := now()
			total.Lock()
			s.waited += 16 * (now() - at)
		} else {
			total.Lock()
		}
		total.sent[p.route] += int(p.weight)
		total.byRoute[p.route&31]++
		total.Unlock()
	}
}

func (s *sorter) batch(count int) {
	var sent [256]int
	var routes [32]int
	for i := 0; i < count; i++ {
		p := s.next()
		sent[p.route] += int(p.weight)
		routes[p.route&31]++
	}
	total.Lock()
	for i := range sent {
		total.sent[i] += sent[i]
	}
	for i := range routes {
		total.byRoute[uint32(i)] += routes[i]
	}
	total.Unlock()
}

func main() {
	var all sync.WaitGroup
	sorters := make([]sorter, @{threads})
	for n := range sorters {
		all.Add(1)
		go func(s *sorter) {
			defer all.Done()
			for now() < @{seconds} {
				at := now()
				if @{apart} == 1 {
					s.batch(@{used})
				} else {
					s.@{fnCamel}(@{used})
				}
				s.units++
				s.busy += now() - at
				waitUntil(float64(s.units) / @{rate})
			}
		}(&sorters[n])
	}
	all.Wait()
	units, busy, waited := 0, 0.0, 0.0
	for _, s := range sorters {
		units, busy, waited = units+s.units, busy+s.busy, waited+s.waited
	}
	report(units, busy, min(waited, busy))
}
