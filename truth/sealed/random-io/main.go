// Looks up readings of many devices in a store that is far larger than what it may keep in memory.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	page  = @{page}
	pages = @{megabytes} * 1048576 / page
)

type spent struct {
	sync.Mutex
	units         int
	busy, culprit time.Duration
}

type store struct {
	file *os.File
}

// release gives the memory back to the others on this machine.
func (s *store) release() {
	syscall.Syscall6(syscall.SYS_FADVISE64, s.file.Fd(), 0, 0, 4, 0, 0)
}

func (s *store) @{fnCamel}(devices []int64, into []byte) (sum int) {
	for _, device := range devices {
		if _, err := s.file.ReadAt(into[:page], device*page); err != nil {
			panic(err)
		}
		sum += int(into[0])
	}
	return sum
}

func (s *store) span(at int64, bytes int, into []byte) (sum int) {
	for bytes > 0 {
		n, err := s.file.ReadAt(into[:min(bytes, len(into))], at)
		if err != nil {
			panic(err)
		}
		sum += int(into[0])
		at, bytes = at+int64(n), bytes-n
	}
	return sum
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func serve(s *store, number int, all *spent, wait *sync.WaitGroup) {
	defer wait.Done()
	chance := rand.New(rand.NewSource(int64(number)))
	rate := @{load} * 10000 * 4096 / page / @{batch} / @{workers}
	began, units, next := time.Now(), 0, int64(0)
	into := make([]byte, 1<<20)
	devices := make([]int64, @{batch})
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		switch "@{layout}" {
		case "scattered":
			for i := range devices {
				devices[i] = chance.Int63n(pages)
			}
			s.@{fnCamel}(devices, into)
		case "clustered":
			s.span(chance.Int63n(pages-@{batch})*page, (@{batch}/8+1)*page, into)
		default:
			s.span(next, 131072, into)
			next = (next + 131072) % (pages*page/2 - 131072)
		}
		took := time.Since(start)
		s.release()
		units++
		all.Lock()
		all.units++
		all.culprit += took
		all.busy += time.Since(start)
		all.Unlock()
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / rate * 1e9))))
	}
}

func main() {
	file, err := os.Open("@{work}/@{store}")
	if err != nil {
		panic(err)
	}
	var all spent
	var wait sync.WaitGroup
	for i := 0; i < @{workers}; i++ {
		wait.Add(1)
		go serve(&store{file}, i, &all, &wait)
	}
	wait.Wait()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, all.units, all.busy.Seconds(), all.culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
