// Checks tickets at a gate: the number's signature is compared with those of the day's tables.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"runtime"
	"syscall"
	"time"
)

var tables = map[uint32]bool{}

// What the thread has used of a core.
func used() time.Duration {
	var usage syscall.Rusage
	const thread = 1
	if err := syscall.Getrusage(thread, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// How many of the ticket's signatures are known: the rounds take as long of a core as a ticket may.
//
//go:noinline
func @{fnCamel}(ticket uint64, until time.Duration) int {
	known := 0
	signature := sha256.Sum256(binary.BigEndian.AppendUint64(nil, ticket))
	for used() < until {
		for range 1000 {
			signature = sha256.Sum256(signature[:])
			if tables[binary.BigEndian.Uint32(signature[:])>>8] {
				known++
			}
		}
	}
	return known
}

func main() {
	runtime.LockOSThread()
	for number := range uint64(@{tables}) {
		signature := sha256.Sum256(binary.BigEndian.AppendUint64(nil, number))
		tables[binary.BigEndian.Uint32(signature[:])>>8] = true
	}
	check := @{check} * float64(time.Millisecond)
	begin, busy, units, known := time.Now(), time.Duration(0), uint64(0), 0
	before, cpu := time.Duration(0), time.Duration(0)
	for time.Since(begin).Seconds() < @{seconds} {
		start := time.Now()
		before = used()
		known += @{fnCamel}(units, before+time.Duration(check))
		units++
		busy += time.Since(start)
		cpu += used() - before
		time.Sleep(time.Until(begin.Add(time.Duration(units) * time.Second / @{rate})))
	}
	fmt.Println(known, "known")
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), max(0, busy-cpu).Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
