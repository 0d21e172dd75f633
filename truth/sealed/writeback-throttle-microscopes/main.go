// Takes the fields of a slide: each is cleaned in steps, and cells are counted in the last.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const edge = @{edge}

type field struct {
	number int
	pixels []uint16
}

func expose(number int) field {
	one, state := field{number, make([]uint16, edge*edge)}, uint32(number*7919+1)
	for at := range one.pixels {
		state = state*1664525 + 1013904223
		one.pixels[at] = uint16(9000 + state>>20)
	}
	for cell := 0; cell < 40; cell++ {
		state = state*1664525 + 1013904223
		x, y := int(state>>8)%(edge-4), int(state>>16)%(edge-4)
		for n := 0; n < 16; n++ {
			one.pixels[(y+n/4)*edge+x+n%4] = 60000
		}
	}
	return one
}

// clean evens out a bit more of what the sensor adds.
func clean(pixels []uint16, step int) []uint16 {
	next, part := make([]uint16, len(pixels)), uint32(step+2)
	before := uint32(pixels[0])
	for at, pixel := range pixels {
		before = (before + uint32(pixel)*part) / (part + 1)
		next[at] = uint16(before)
	}
	return next
}

type archive struct {
	folder string
	took   time.Duration
}

//go:noinline
func (a *archive) @{fnCamel}(number, step int, pixels []uint16) error {
	start := time.Now()
	defer func() { a.took += time.Since(start) }()
	name := fmt.Sprintf("f%d-s%d@{suffix}", number, step)
	file, err := os.Create(filepath.Join(a.folder, name))
	if err != nil {
		return err
	}
	defer file.Close()
	skip, rows := edge/@{side}, make([]byte, 0, @{side}*@{side}*2)
	for y := 0; y < @{side}; y++ {
		for x := 0; x < @{side}; x++ {
			rows = binary.LittleEndian.AppendUint16(rows, pixels[y*skip*edge+x*skip])
		}
	}
	_, err = file.Write(rows)
	return err
}

func cells(pixels []uint16) (count int) {
	for at := 1; at < len(pixels); at++ {
		if pixels[at] > 30000 && pixels[at-1] <= 30000 {
			count++
		}
	}
	return count
}

func main() {
	store := &archive{folder: "@{work}/@{volume}"}
	began, units, found, busy := time.Now(), 0, 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		one := expose(units)
		for step := 1; step <= @{steps}; step++ {
			one.pixels = clean(one.pixels, step)
			if step > @{steps}-@{keep} {
				if err := store.@{fnCamel}(one.number, step, one.pixels); err != nil {
					panic(err)
				}
			}
		}
		found += cells(one.pixels)
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "cells": %d}`, units, busy.Seconds(), store.took.Seconds(), found)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
