package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand"
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const size = @{kb} << 10

// A cache of rendered quotes, by their number.
type cache struct {
	lock   sync.Mutex
	quotes [][]byte
	spent  time.Duration
}

func fill(megabytes int) *cache {
	c := &cache{quotes: make([][]byte, megabytes<<20/size)}
	chance := rand.New(rand.NewSource(1))
	for i := range c.quotes {
		c.quotes[i] = make([]byte, size)
		chance.Read(c.quotes[i])
	}
	return c
}

//go:noinline
func (c *cache) @{fnCamel}(numbers []int) uint32 {
	c.lock.Lock()
	defer c.lock.Unlock()
	start := time.Now()
	sum := uint32(0)
	for _, number := range numbers {
		quote := c.quotes[number]
		quote[0]++
		for at := 0; at < size; at += 1024 {
			sum += uint32(quote[at])
		}
	}
	c.spent += time.Since(start)
	for i := 0; i < @{rounds}; i++ {
		sum ^= crc32.ChecksumIEEE(c.quotes[numbers[0]])
	}
	return sum
}

func main() {
	if err := os.WriteFile("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", []byte(fmt.Sprint(os.Getpid())), 0o644); err != nil {
		panic(err)
	}
	debug.SetGCPercent(20)
	held := fill(@{heap_mb})
	hot := min(len(held.quotes), @{hot_mb}<<20/size)
	for number := 0; number < hot && hot < len(held.quotes)/3; number++ {
		held.@{fnCamel}([]int{number})
	}
	held.spent = 0
	seconds, often := @{seconds}, float64(@{per_s})
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	period := time.Duration(float64(time.Second) / often)
	var all sync.Mutex
	var done sync.WaitGroup
	units, busy := 0, time.Duration(0)
	for desk := int64(0); desk < 1; desk++ {
		done.Add(1)
		go func() {
			defer done.Done()
			chance, due := rand.New(rand.NewSource(desk+7)), time.Now()
			numbers := make([]int, @{touches})
			for time.Now().Before(end) {
				for i := range numbers {
					numbers[i] = chance.Intn(hot)
				}
				start := time.Now()
				held.@{fnCamel}(numbers)
				took := time.Since(start)
				all.Lock()
				units++
				busy += took
				all.Unlock()
				if due = due.Add(period); time.Until(due) < 0 {
					due = time.Now()
				}
				time.Sleep(time.Until(due))
			}
		}()
	}
	done.Wait()
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": min(busy, held.spent).Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
