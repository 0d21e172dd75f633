// Where the smoke of each chimney is heard of within an hour.
package main

import (
	"fmt"
	"log"
	"os"
	"syscall"
	"time"
	"unsafe"
)

const (
	rows  = @{rows}
	cells = 2042
)

type row struct {
	chimney, from, to uint32
	minute            [cells]uint16
}

type plain struct {
	memory   []byte
	rows     []row
	released time.Time
}

func newPlain() *plain {
	memory, err := syscall.Mmap(-1, 0, rows*int(unsafe.Sizeof(row{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		log.Fatal(err)
	}
	return &plain{memory, unsafe.Slice((*row)(unsafe.Pointer(&memory[0])), rows), time.Now()}
}

//go:noinline
func (p *plain) @{fn}() {
	if err := syscall.Madvise(p.memory, syscall.MADV_DONTNEED); err != nil {
		log.Fatal(err)
	}
	p.released = time.Now()
}

// The strip of each row that lies in the wind.
//
//go:noinline
func (p *plain) @{fn2}(chimney uint32) {
	middle := 200 + chimney*37%1500
	for r := range p.rows {
		drift := uint32(r) * @{wind} / 97 % 120
		p.rows[r].chimney = chimney
		p.rows[r].from = middle + drift
		p.rows[r].to = middle + drift + @{width} + (uint32(r)^chimney)%8
	}
}

//go:noinline
func (p *plain) drift(chimney uint32) (reached int) {
	gust := chimney * 2654435761
	for r := range p.rows {
		minute := uint32(r) / 40
		strip := p.rows[r].minute[p.rows[r].from:p.rows[r].to]
		for c := range strip {
			gust = gust*1664525 + 1013904223
			minute += gust >> 30
			strip[c] = uint16(minute)
			if minute < 60 {
				reached++
			}
		}
	}
	return reached
}

func main() {
	p := newPlain()
	p.@{fn2}(0)
	began := time.Now()
	var busy, culprit time.Duration
	units, worst := 0, 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		p.@{fn2}(uint32(units))
		laid := time.Now()
		worst = max(worst, p.drift(uint32(units)))
		drifted := time.Now()
		if drifted.Sub(p.released).Seconds() >= @{hold} {
			p.@{fn}()
		}
		end := time.Now()
		culprit += laid.Sub(start) + end.Sub(drifted)
		busy += end.Sub(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	log.Printf("worst: %d cells", worst)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
