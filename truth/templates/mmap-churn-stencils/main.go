// Engraves the plates of doors: each letter is drawn on a canvas outside of the heap, and its strokes go to the engraver.
package main

import (
	"fmt"
	"log"
	"os"
	"syscall"
	"time"
)

const size, drawn = @{canvas} * 1024, @{drawn} * 4096

type easel struct {
	canvas  []byte
	served  int
	mapping time.Duration
}

// A clean canvas; a letter needs its beginning mostly.
//
//go:noinline
func (e *easel) @{fnCamel}() []byte {
	start := time.Now()
	if e.canvas != nil && e.served%@{keep} == 0 {
		if err := syscall.Munmap(e.canvas); err != nil {
			log.Fatal(err)
		}
		e.canvas = nil
	}
	if e.canvas == nil {
		canvas, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			log.Fatal(err)
		}
		e.canvas = canvas
	}
	for at := 0; at < drawn; at += 4096 {
		e.canvas[at] = 0
	}
	e.served++
	e.mapping += time.Since(start)
	return e.canvas
}

func (e *easel) letter(plate, number int) (strokes int) {
	canvas := e.@{fnCamel}()
	for line := 0; line+256 <= drawn; line += 256 {
		row := canvas[line : line+256]
		clear(row)
		from := (plate*13 + number*7 + line) % 180
		for i := from; i < from+20; i++ {
			row[i] = 1
		}
		strokes += from % 5
	}
	return strokes
}

func main() {
	e, plates, strokes, busy := &easel{}, 0, 0, time.Duration(0)
	per := @{per_s}
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		start := time.Now()
		for number := 0; number < @{shapes}; number++ {
			strokes += e.letter(plates, number)
		}
		plates++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(time.Duration(1e9 / per))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "strokes": %d}`, plates, busy.Seconds(), e.mapping.Seconds(), strokes)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
