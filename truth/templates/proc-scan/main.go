package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	known   uint64
	looked  time.Time
	culprit time.Duration
)

// load is what all processes together have used: tasks wait while it is high.
func @{fnCamel}() uint64 {
	began := time.Now()
	if !looked.IsZero() && began.Sub(looked) < @{period}*time.Second {
		return known
	}
	looked = began
	defer func() { culprit += time.Since(began) }()
	known = 0
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		rest := string(text[strings.LastIndexByte(string(text), ')')+1:])
		fields := strings.Fields(rest)
		user, _ := strconv.ParseUint(fields[11], 10, 64)
		system, _ := strconv.ParseUint(fields[12], 10, 64)
		known += user + system
	}
	return known
}

func work(load uint64) (sum uint64) {
	for i := 0; i < @{extra}*50000; i++ {
		sum = sum*31 + load
	}
	return sum
}

func main() {
	tasks := make(chan int)
	done := make(chan struct{})
	units, sum := 0, uint64(0)
	var busy time.Duration
	@{fnCamel}()
	culprit = 0
	go func() {
		for range tasks {
			start := time.Now()
			sum += work(@{fnCamel}())
			units++
			busy += time.Since(start)
		}
		close(done)
	}()
	began := time.Now()
	for n := 1; time.Since(began).Seconds() < @{seconds}; n++ {
		tasks <- n
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / @{rate} * 1e9))))
	}
	close(tasks)
	<-done
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "odd": %d}`, units, busy.Seconds(), culprit.Seconds(), sum&1)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
