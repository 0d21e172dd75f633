// Takes leases: a file is locked and unlocked for each resource of a task.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func report(units int, seconds, culprit float64) {
	text := fmt.Sprintf("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		panic(err)
	}
}

//go:noinline
func @{fnCamel}(leases []*os.File) {
	for _, lease := range leases {
		if err := syscall.Flock(int(lease.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			syscall.Flock(int(lease.Fd()), syscall.LOCK_UN)
		}
	}
}

func main() {
	runtime.LockOSThread()
	folder := "@{work}/@{folder}"
	os.MkdirAll(folder, 0o755)
	var leases []*os.File
	for i := 0; i < @{files}; i++ {
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("lease-%d", i)))
		if err != nil {
			panic(err)
		}
		leases = append(leases, file)
	}
	os.WriteFile("@{work}/service.pid", []byte(fmt.Sprintln(os.Getpid())), 0o644)
	time.Sleep(150 * time.Millisecond)
	units, busy, culprit, sum := 0, 0.0, 0.0, uint64(1)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		@{fnCamel}(leases)
		culprit += time.Since(start).Seconds()
		for i := 0; i < @{spins}*3000; i++ {
			sum = sum*6364136223846793005 + 1442695040888963407
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	report(units, busy, culprit)
	fmt.Println(sum)
}
