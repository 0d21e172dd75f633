package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

var culprit time.Duration

// states counts the sockets by state, for the answer of /metrics.
func @{fnCamel}() map[string]int {
	counts := map[string]int{}
	if "@{counted}" == "summary" {
		text, _ := os.ReadFile("/proc/net/sockstat")
		for _, line := range strings.Split(string(text), "\n") {
			fields := strings.Fields(line)
			if len(fields) > 2 && fields[0] == "TCP:" {
				counts["01"], _ = strconv.Atoi(fields[2])
			}
		}
		return counts
	}
	began := time.Now()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if fields := strings.Fields(line); len(fields) > 3 {
			counts[fields[3]]++
		}
	}
	culprit += time.Since(began)
	return counts
}

func render(counts map[string]int) (sum uint32) {
	for i := 0; i < @{extra}*40000; i++ {
		sum = sum*31 + uint32(counts["01"]&0xff) + uint32(i)
		if i%64 != 0 {
			i += 7
		}
	}
	return sum
}

func main() {
	units, sum := 0, uint32(0)
	var busy time.Duration
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		sum += render(@{fnCamel}())
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "odd": %d}`, units, busy.Seconds(), culprit.Seconds(), sum&1)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
