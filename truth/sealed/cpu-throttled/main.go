// Converts images of an upload; two at a time.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func report(units int, seconds, culprit float64) {
	text := fmt.Sprintf("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		panic(err)
	}
}

func used() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(1, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

//go:noinline
func @{fnCamel}(n, ms int) uint64 {
	hash := uint64(n)
	for i := 0; i < ms*420000; i++ {
		hash = (hash ^ uint64(i)) * 1099511628211
		hash ^= hash >> 29
	}
	return hash
}

func main() {
	if err := os.WriteFile("@{work}/limits/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		panic(err)
	}
	var lock sync.Mutex
	var all sync.WaitGroup
	var busy, culprit float64
	var sum uint64
	units := 0
	images := make(chan int, 1)
	for converter := 0; converter < 2; converter++ {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			for n := range images {
				ms := @{small_ms}
				if @{heavy} > 0 && n%max(1, @{heavy}) == 5 {
					ms = 45
				}
				start, before := time.Now(), used()
				hash := @{fnCamel}(n, ms)
				took := time.Since(start).Seconds()
				spent := used() - before
				lock.Lock()
				units++
				sum += hash
				busy += took
				culprit += max(0, took-spent)
				lock.Unlock()
			}
		}()
	}
	began := time.Now()
	for n := 1; time.Since(began).Seconds() < @{seconds}; n++ {
		images <- n
		time.Sleep(time.Until(began.Add(time.Duration(float64(n*@{small_ms}) * 1e6 / @{load}))))
	}
	close(images)
	all.Wait()
	report(units, busy, culprit)
	fmt.Println(sum)
}
