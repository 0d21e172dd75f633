// Collects the latencies that probes measure, and computes their percentiles time and again.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type series struct {
	@{lock} sync.Mutex
	values []float64
	next   int
}

//go:noinline
func (s *series) add(value float64) int {
	s.@{lock}.Lock()
	defer s.@{lock}.Unlock()
	s.values[s.next] = value
	s.next = (s.next + 1) % len(s.values)
	return s.next
}

func percentiles(sorted []float64) (sum float64) {
	for percent := 1; percent < 100; percent++ {
		sum += sorted[len(sorted)*percent/100]
	}
	return sum
}

//go:noinline
func (s *series) @{fnCamel}(sorted []float64) float64 {
	s.@{lock}.Lock()
	copy(sorted, s.values)
	if @{inside} == 1 {
		defer s.@{lock}.Unlock()
	} else {
		s.@{lock}.Unlock()
	}
	slices.Sort(sorted)
	return percentiles(sorted)
}

func milliseconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Millisecond))
}

var statistics atomic.Int64

func (s *series) serve(probe net.Conn) {
	defer probe.Close()
	lines := bufio.NewScanner(probe)
	for lines.Scan() {
		_, number, _ := strings.Cut(lines.Text(), " ")
		value, _ := strconv.ParseFloat(number, 64)
		if _, err := fmt.Fprintf(probe, "taken %d %d\n", s.add(value), statistics.Load()); err != nil {
			return
		}
	}
}

func main() {
	s := &series{values: make([]float64, @{samples})}
	for i := range s.values {
		s.values[i] = rand.Float64() * 1000
	}
	go func() {
		sorted := make([]float64, len(s.values))
		for {
			statistics.Store(int64(s.@{fnCamel}(sorted)))
			time.Sleep(milliseconds(@{every}))
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		probe, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go s.serve(probe)
	}
}
