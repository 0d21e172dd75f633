// Imports the changes of a railway's timetable: batch by batch, each as a whole or not at all.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// A train at a station.
type call struct {
	trip, station   int
	arrives, leaves float64
	before          float64
	last            *call
	note            *string
}

type batch struct {
	number int
	calls  []*call
}

type place struct{ trip, station int }

type timetable struct {
	arrivals map[place]float64
	history  []*batch
	notes    []*string
}

func (t *timetable) read(number int) *batch {
	b := &batch{number: number}
	for trip := 0; trip < @{trips}; trip++ {
		at := 300 + (number*7+trip*11)%900
		var last *call
		for i := 0; i < @{calls}; i++ {
			at += 2 + (number+i*trip)%6
			last = &call{number%8*100 + trip, (trip*5 + i) % 400, float64(at) + 0.25, float64(at) + 1, 0, last, t.notes[(trip+i)%len(t.notes)]}
			b.calls = append(b.calls, last)
		}
	}
	return b
}

func (t *timetable) check(b *batch) float64 {
	late := 0.0
	for round := 0; round < @{effort}*40; round++ {
		for _, c := range b.calls {
			late = late*0.9 + max(0, c.arrives-c.leaves+1)*float64(c.station%7)
		}
	}
	return late
}

// What was there before is kept, so that the batch can be taken back as long as it is not committed.
//
//go:noinline
func (t *timetable) @{fnCamel}(b *batch) {
	for _, c := range b.calls {
		at := place{c.trip, c.station}
		c.before, t.arrivals[at] = t.arrivals[at], c.arrives
	}
	t.history = append(t.history, b)
}

func (t *timetable) commit() {
	if gone := len(t.history) - @{undo}; gone > 0 {
		clear(t.history[:gone])
		t.history = append(t.history[:0], t.history[gone:]...)
	}
}

// The machine is shared with others: above a limit, what is not needed is given back between two batches.
type house struct {
	spent time.Duration
}

func (h *house) @{fn2}() {
	var state runtime.MemStats
	runtime.ReadMemStats(&state)
	if state.HeapAlloc > @{memory_mb}<<20 {
		start := time.Now()
		debug.FreeOSMemory()
		h.spent += time.Since(start)
	}
}

func main() {
	t, h := &timetable{arrivals: map[place]float64{}}, &house{}
	for i := 0; i < 12; i++ {
		text := fmt.Sprintf("platform %d, %d coaches", i%5+1, 4+i)
		t.notes = append(t.notes, &text)
	}
	number := 0
	for ; number < @{loaded}; number++ {
		t.@{fnCamel}(t.read(number))
		t.commit()
	}
	rate := @{rate}
	pace := time.Duration(1e9 / rate)
	began := time.Now()
	due, end := began, began.Add(time.Duration(@{seconds}*float64(time.Second)))
	var busy time.Duration
	units, late := 0, 0.0
	for {
		start := time.Now()
		if !start.Before(end) {
			break
		}
		number++
		b := t.read(number)
		late += t.check(b)
		t.@{fnCamel}(b)
		t.commit()
		h.@{fn2}()
		now := time.Now()
		busy += now.Sub(start)
		units++
		due = due.Add(pace)
		if due.Before(now) {
			due = now
		}
		time.Sleep(due.Sub(now))
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "late": %.1f}`, units, busy.Seconds(), h.spent.Seconds(), late)), 0o644)
}
