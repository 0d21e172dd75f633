// Reduces a night's exposures: takes the spectrum out of each, and finds its star in the catalogue.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

type reducer struct {
	catalogue []byte
	mapping   time.Duration
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func load() *reducer {
	catalogue, err := syscall.Mmap(-1, 0, @{stars}*1000000, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	must(err)
	for at, value := 0, uint32(11); at < len(catalogue); at += 4096 {
		value = value*1664525 + 1013904223
		catalogue[at] = byte(value >> 24)
	}
	return &reducer{catalogue: catalogue}
}

//go:noinline
func (r *reducer) @{fn}(name string) (line [64]uint32, err error) {
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return
	}
	start := time.Now()
	pixels, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	r.mapping += time.Since(start)
	if err != nil {
		return
	}
	for at := 0; at < len(pixels); at += 61 {
		line[at>>6&63] += uint32(pixels[at])
	}
	start = time.Now()
	err = syscall.Munmap(pixels)
	r.mapping += time.Since(start)
	return
}

func (r *reducer) nearest(line [64]uint32) (best int) {
	least := uint32(1 << 31)
	for n := 0; n < 200; n++ {
		star := int(line[n&63]) * (n + 7919) * 64 % len(r.catalogue) &^ 4095
		if away := line[n&63]&255 ^ uint32(r.catalogue[star]); away < least {
			least, best = away, star
		}
	}
	return
}

func main() {
	r := load()
	must(os.WriteFile("@{work}/reducer.new", []byte(strconv.Itoa(os.Getpid())), 0o644))
	must(os.Rename("@{work}/reducer.new", "@{work}/reducer.pid"))
	began, busy, units, sum := time.Now(), time.Duration(0), 0, 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for frame := 0; frame < @{frames}; frame++ {
			line, err := r.@{fn}(fmt.Sprintf("@{work}/@{night}/exposure-%d.raw", (units+frame*3)%8))
			must(err)
			sum += r.nearest(line)
		}
		units++
		busy += time.Since(start)
		rest := 1 / float64(@{rate})
		time.Sleep(time.Duration(rest*1e9) - time.Since(start))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": r.mapping.Seconds(), "sum": sum})
	must(os.WriteFile("@{report}", text, 0o644))
}
