// Turns uploads into the pages of an archive. Between uploads the heap is given back: the container is paid by its memory.
package main

import (
	"encoding/json"
	"hash/crc32"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

const piece = @{piece_kb} << 10

type memory struct {
	lock sync.Mutex
	last time.Time
}

//go:noinline
func (m *memory) @{fnCamel}() {
	m.lock.Lock()
	if time.Since(m.last).Seconds() < @{every} {
		m.lock.Unlock()
		return
	}
	m.last = time.Now()
	m.lock.Unlock()
	debug.FreeOSMemory()
}

func render(number int) uint32 {
	pages := make([][]byte, 0, @{mb}<<20/piece)
	for len(pages) < cap(pages) {
		page := make([]byte, piece)
		for at := 0; at < len(page); at += 64 {
			page[at] = byte(number + at)
		}
		pages = append(pages, page)
	}
	sum := uint32(number)
	for pass := 0; pass < @{passes}; pass++ {
		for _, page := range pages {
			sum = crc32.Update(sum, crc32.IEEETable, page[:4096])
		}
	}
	return sum
}

// Of the processor time: the kernel's, and all.
func used() (float64, float64) {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Stime.Nano()) / 1e9, float64(usage.Stime.Nano()+usage.Utime.Nano()) / 1e9
}

func main() {
	kept := &memory{last: time.Now()}
	units, busy, system, every := 0, time.Duration(0), 0.0, 1e-9
	began, rate, seconds := time.Now(), float64(@{rate}*@{workers}), @{seconds}
	for time.Since(began).Seconds() < seconds {
		start := time.Now()
		system0, every0 := used()
		render(units)
		kept.@{fnCamel}()
		units++
		busy += time.Since(start)
		system1, every1 := used()
		system += system1 - system0
		every += every1 - every0
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / rate * 1e9))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": busy.Seconds() * system / every})
	os.WriteFile("@{report}", text, 0o644)
}
