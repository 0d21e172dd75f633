// Keeps routes and their vehicles together.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type registry struct {
	routes, vehicles sync.Mutex
	byRoute          map[int]int
	done             atomic.Int64
}

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

//go:noinline
func (r *registry) @{fnCamel}(route int) {
	r.routes.Lock()
	defer r.routes.Unlock()
	time.Sleep(ms(@{nap}))
	r.vehicles.Lock()
	defer r.vehicles.Unlock()
	r.byRoute[route%20]++
	r.done.Add(1)
}

//go:noinline
func (r *registry) @{fn2}() (total int) {
	first, second := &r.vehicles, &r.routes
	if @{order} == 1 {
		first, second = second, first
	}
	first.Lock()
	defer first.Unlock()
	time.Sleep(ms(@{nap}))
	second.Lock()
	defer second.Unlock()
	for start := time.Now(); time.Since(start) < ms(@{inside}); {
		for _, n := range r.byRoute {
			total += n
		}
	}
	r.done.Add(1)
	return total
}

func main() {
	r := &registry{byRoute: map[int]int{}}
	began := time.Now()
	go func() {
		for n := 0; ; n++ {
			r.@{fnCamel}(n)
			time.Sleep(ms(@{gap} * 3))
		}
	}()
	go func() {
		for {
			r.@{fn2}()
			time.Sleep(ms(@{gap} * 4))
		}
	}()
	time.Sleep(ms(@{seconds} * 1000))
	text := fmt.Sprintf(`{"units": %d, "seconds": %f}`, r.done.Load(), time.Since(began).Seconds())
	if os.WriteFile("@{report}", []byte(text), 0o644) != nil {
		os.Exit(1)
	}
}
