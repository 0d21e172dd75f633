// Fits the words of subtitles to the words that were heard, scene by scene, and keeps account of what that takes.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const threadClock = 3

var culprit time.Duration

type word struct {
	sound uint32
	begin int32
}

type account struct {
	marks [@{marks}]int64
	last  int64
	n     int
}

// What the processor did for this thread until now; package time has no such clock.
//
//go:noinline
func @{fnCamel}() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func (a *account) mark(stage int) {
	now := @{fnCamel}()
	a.marks[stage] += now - a.last
	a.last = now
}

func (a *account) makeUp() {
	// One in 16 is measured, and stands for the others.
	a.n++
	if @{every} == 1 && a.n%16 != 0 {
		for stage := range a.marks {
			a.mark(stage)
		}
		return
	}
	from := time.Now()
	for stage := range a.marks {
		a.mark(stage)
	}
	if @{every} == 1 {
		culprit += 16 * time.Since(from)
	} else {
		culprit += time.Since(from)
	}
}

func scene(number int) (said, heard []word) {
	state := uint32(number)*2654435761 + 1
	for i := int32(0); i < @{words}; i++ {
		state = state*1664525 + 1013904223
		said = append(said, word{state >> 20, 0})
		heard = append(heard, word{state>>20 ^ state>>9&1, i * 310})
	}
	return
}

func fit(said, heard []word, books *account) int32 {
	var drift int32
	for i := range said {
		best, at := uint32(1<<31), i
		for k := max(0, i-@{window}); k < min(len(heard), i+@{window}); k++ {
			if off := said[i].sound ^ heard[k].sound; off < best {
				best, at = off, k
			}
		}
		said[i].begin = heard[at].begin
		drift += int32(at - i)
		if @{every} > 0 && i%max(1, @{every}) == 0 {
			books.makeUp()
		}
	}
	return drift
}

func main() {
	runtime.LockOSThread()
	var books account
	var busy time.Duration
	units, drift := 0, int32(0)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		said, heard := scene(units)
		drift += fit(said, heard, &books)
		if @{every} == 0 {
			books.mark(0)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(units)*time.Second/@{rate} - time.Since(began))
	}
	fmt.Println(drift, books.marks)
	report, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": culprit.Seconds()})
	if err := os.WriteFile("@{report}", report, 0o644); err != nil {
		panic(err)
	}
}
