// Scores documents; so many of them at once as the configuration says.
package main

import (
	"fmt"
	"os"
	"runtime"
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
func @{fnCamel}(n int) uint64 {
	hash := uint64(n)
	for i := 0; i < @{work_ms}*420000; i++ {
		hash = (hash ^ uint64(i)) * 1099511628211
		hash ^= hash >> 29
	}
	return hash
}

func main() {
	runtime.GOMAXPROCS(@{threads})
	var lock sync.Mutex
	var all sync.WaitGroup
	var busy, culprit float64
	var sum uint64
	units := 0
	documents := make(chan int)
	for worker := 0; worker < @{threads}; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			for n := range documents {
				time.Sleep(@{wait_ms} * time.Millisecond)
				start, before := time.Now(), used()
				hash := @{fnCamel}(n)
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
		documents <- n
		time.Sleep(time.Until(began.Add(time.Duration(float64(n*@{work_ms}) * 1e6 / @{load}))))
	}
	close(documents)
	all.Wait()
	report(units, busy, culprit)
	fmt.Println(sum)
}
