// A hydrophone station: in each watch it sorts the clicks that it heard by the animal that they sound like.
package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"syscall"
	"time"
)

const (
	size  = @{pages} * 4096
	width = 48
)

type canvases struct {
	kept    []byte
	mapping time.Duration
}

//go:noinline
func (c *canvases) @{fnCamel}() []byte {
	start := time.Now()
	canvas, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	c.mapping += time.Since(start)
	return canvas
}

func (c *canvases) back(canvas []byte) {
	start := time.Now()
	syscall.Munmap(canvas)
	c.mapping += time.Since(start)
}

func (c *canvases) take() []byte {
	if "@{canvas}" == "each" {
		return c.@{fnCamel}()
	}
	if c.kept == nil {
		c.kept = c.@{fnCamel}()
	}
	clear(c.kept[:width*@{patterns}*4])
	return c.kept
}

func (c *canvases) give(canvas []byte) {
	if "@{canvas}" == "each" {
		c.back(canvas)
	}
}

func (c *canvases) relieve() {
	if "@{canvas}" == "watch" && c.kept != nil {
		c.back(c.kept)
		c.kept = nil
	}
}

type station struct {
	canvases
	patterns [@{patterns}][width]float32
	heard    [@{patterns}]int
}

func (s *station) click(watch, n int) {
	canvas := s.take()
	best, most := 0, float32(-1)
	for p := range s.patterns {
		sum := float32(0)
		for i, tone := range s.patterns[p] {
			sample := float32((watch*31+n*7+i*i)%97) / 97
			row := canvas[(p*width+i)*4:]
			part := math.Float32frombits(binary.LittleEndian.Uint32(row)) + tone*sample
			binary.LittleEndian.PutUint32(row, math.Float32bits(part))
			sum += part
		}
		if sum > most {
			best, most = p, sum
		}
	}
	s.heard[best]++
	s.give(canvas)
}

func main() {
	s := &station{}
	for p := range s.patterns {
		for i := range s.patterns[p] {
			s.patterns[p][i] = float32(math.Abs(math.Sin(float64(i*(p+1)) / 5)))
		}
	}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for n := 0; n < @{clicks}; n++ {
			s.click(units, n)
		}
		s.relieve()
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": s.mapping.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
