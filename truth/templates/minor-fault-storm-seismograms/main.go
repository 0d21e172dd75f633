// Stacks the traces of a shot: each is laid onto a plane at its offset, and the loudest cells are the answer.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"syscall"
	"time"
)

const size = @{kb} * 1024

type trace struct {
	offset  int
	samples []byte
}

// plane is the memory that a shot is stacked on, outside of the heap.
type plane struct {
	cells []byte
	stays bool
}

func newPlane(stays bool) *plane {
	cells, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		log.Fatal(err)
	}
	return &plane{cells, stays}
}

// The level of silence: each row of the plane begins with its mark.
//
//go:noinline
func (p *plane) @{fnCamel}(shot int) {
	for row := 0; row < len(p.cells); row += 1024 {
		p.cells[row] = byte(shot)
		p.cells[row+1] = 0
	}
}

func (p *plane) done() {
	if p.stays {
		return
	}
	if err := syscall.Madvise(p.cells, syscall.MADV_DONTNEED); err != nil {
		log.Fatal(err)
	}
}

func record(shot int) []trace {
	traces := make([]trace, @{traces})
	for i := range traces {
		samples := make([]byte, @{samples})
		for k := range samples {
			samples[k] = byte(60 + 50*math.Sin(float64(k*(i+1)+shot)/17))
		}
		traces[i] = trace{(shot*7919 + i*104729) % (size - @{samples}), samples}
	}
	return traces
}

func stack(p *plane, traces []trace) (loudest int) {
	for _, one := range traces {
		for k, sample := range one.samples {
			cell := &p.cells[one.offset+k]
			*cell = *cell/2 + sample/2
			if int(*cell) > loudest {
				loudest = int(*cell)
			}
		}
	}
	return loudest
}

func main() {
	var busy, spent time.Duration
	units, loudest := 0, 0
	began := time.Now()
	shared := newPlane(@{keep} == 1)
	shared.@{fnCamel}(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		traces := record(units)
		from := time.Now()
		shared.@{fnCamel}(units)
		spent += time.Since(from)
		loudest += stack(shared, traces)
		from = time.Now()
		shared.done()
		spent += time.Since(from)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println(units, "shots", loudest)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
