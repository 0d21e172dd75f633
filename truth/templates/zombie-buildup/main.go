// Marks parcels as delivered: each mark is set by a program of its own.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func report(units int, seconds, culprit float64) {
	text := fmt.Sprintf("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		panic(err)
	}
}

type job struct {
	command *exec.Cmd
}

func @{fn}(folder string, n int) *job {
	path := filepath.Join(folder, fmt.Sprintf("parcel-%d", n%50))
	arguments := []string{path}
	if "@{helper}" == "truncate" {
		arguments = []string{"-s", "0", path}
	}
	command := exec.Command("@{helper}", arguments...)
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot deliver:", err)
	}
	return &job{command}
}

func main() {
	folder := "@{work}/@{outbox}"
	os.MkdirAll(folder, 0o755)
	var open []*job
	var busy float64
	units := 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		one := @{fn}(folder, units)
		switch "@{reap}" {
		case "at once":
			one.command.Wait()
		case "sometimes":
			open = append(open, one)
			if len(open) >= 2 {
				for _, each := range open {
					each.command.Wait()
				}
				open = nil
			}
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	report(units, busy, 0)
}
