// Watches that a ferry keeps off the shallows: looks at the cells of the sea chart that lie ahead.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"
)

const cell, wide, count = @{cell}, @{wide}, @{cells}

type chart struct {
	file    *os.File
	size    int
	reading time.Duration
}

func open(path string) *chart {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	return &chart{file: file, size: int(info.Size()) / cell}
}

//go:noinline
func (c *chart) @{fnCamel}(x, y int, sea []byte) []byte {
	start := time.Now()
	defer func() { c.reading += time.Since(start) }()
	sea = sea[:0]
	for n := 0; n < count; n++ {
		place := ((y+n/12)*wide + x + n%12) % c.size
		sea = sea[:len(sea)+cell]
		if _, err := c.file.ReadAt(sea[len(sea)-cell:], int64(place)*cell); err != nil && err != io.EOF {
			log.Fatal(err)
		}
	}
	return sea
}

func shallowest(sea []byte) (depth byte) {
	depth = 255
	for i := 0; i < len(sea); i += 7 {
		depth = min(depth, sea[i])
	}
	return depth
}

func main() {
	c := open("@{work}/@{mount}/@{chart}")
	sea := make([]byte, 0, count*cell)
	warned, units, busy := 0, 0, time.Duration(0)
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		start := time.Now()
		if shallowest(c.@{fnCamel}(units*5%20, units%18, sea)) < 3 {
			warned++
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(seconds(1 / @{per_s}))))
	}
	log.Printf("%d warnings", warned)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), c.reading.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }
