// Takes in pictures: makes their sizes and keeps them on the volume for pictures.
package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"
)

type picture struct {
	name   string
	pixels []byte
}

type totals struct {
	Units   int     `json:"units"`
	Seconds float64 `json:"seconds"`
	Culprit float64 `json:"culprit"`
}

type studio struct {
	number int
	turn   int
	total  totals
}

func (s *studio) receive() *picture {
	pixels := make([]byte, @{kb}<<10)
	state := uint32(s.number*7919 + s.turn + 1)
	for at := 0; at+4 <= len(pixels); at += 4 {
		state = state*1664525 + 1013904223
		pixels[at], pixels[at+1], pixels[at+2], pixels[at+3] = byte(state>>24), byte(state>>16), byte(state>>8), 255
	}
	return &picture{fmt.Sprintf("picture-%d-%d", s.number, s.turn), pixels}
}

// A step of the work: colours are evened out.
func (p *picture) improve(step int) {
	before := byte(step)
	for at := range p.pixels {
		before = byte((int(before)*3 + int(p.pixels[at])) >> 2)
		p.pixels[at] = before
	}
}

func (p *picture) sized(bytes int) []byte {
	if bytes >= len(p.pixels) {
		return p.pixels
	}
	small := make([]byte, bytes)
	for at := range small {
		small[at] = p.pixels[at*(len(p.pixels)/bytes)]
	}
	return small
}

//go:noinline
func (s *studio) @{fnCamel}(of *picture, step int, pixels []byte) error {
	file, err := os.Create(s.path(s.turn, step))
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Fprintf(file, "P5 %s %d %08x\n", of.name, len(pixels), crc32.ChecksumIEEE(pixels))
	for at := 0; at < len(pixels); at += 65536 {
		if _, err := file.Write(pixels[at:min(at+65536, len(pixels))]); err != nil {
			return err
		}
	}
	return nil
}

func (s *studio) path(turn, step int) string {
	return filepath.Join("@{work}/@{volume}", fmt.Sprintf("%d-%d-%d-@{rendition}", s.number, turn%4, step))
}

func (s *studio) work(began time.Time, seconds float64) {
	for time.Since(began).Seconds() < seconds {
		start := time.Now()
		one := s.receive()
		for step := 1; step <= @{steps}; step++ {
			one.improve(step)
			if step <= @{steps}-@{kept} {
				continue
			}
			saving := time.Now()
			if err := s.@{fnCamel}(one, step, one.sized(@{size}<<10)); err != nil {
				log.Fatal(err)
			}
			s.total.Culprit += time.Since(saving).Seconds()
		}
		s.turn++
		s.total.Units++
		s.total.Seconds += time.Since(start).Seconds()
		time.Sleep(time.Until(began.Add(time.Duration(float64(s.turn) / @{rate} * 1e9))))
	}
}

func main() {
	var all sync.WaitGroup
	studios := make([]*studio, @{workers})
	began := time.Now()
	for number := range studios {
		studios[number] = &studio{number: number}
		all.Add(1)
		one := studios[number]
		go func() {
			defer all.Done()
			one.work(began, @{seconds})
		}()
	}
	all.Wait()
	var sum totals
	for _, one := range studios {
		sum.Units += one.total.Units
		sum.Seconds += one.total.Seconds
		sum.Culprit += one.total.Culprit
	}
	text, _ := json.Marshal(sum)
	os.WriteFile("@{report}", text, 0o644)
}
