// Plans hikes: how far a track climbs, and how long it takes, from a model of the heights.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"syscall"
	"time"
)

const (
	rows, columns = @{rows}, @{columns}
	piece         = @{piece}
)

type model struct {
	file    *os.File
	whole   []byte
	mapping time.Duration
}

func (m *model) mapped(at int64, size int) []byte {
	view, err := syscall.Mmap(int(m.file.Fd()), at, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		log.Fatal(err)
	}
	return view
}

// height at a place, smoothed over its neighbours.
//
//go:noinline
func (m *model) @{fnCamel}(row, column int) float64 {
	at := (row*columns + column) * 2
	if m.whole != nil {
		return smooth(m.whole, at)
	}
	start := time.Now()
	first := at / piece * piece
	view := m.mapped(int64(first), piece)
	m.mapping += time.Since(start)
	height := smooth(view, at-first)
	start = time.Now()
	if err := syscall.Munmap(view); err != nil {
		log.Fatal(err)
	}
	m.mapping += time.Since(start)
	return height
}

func smooth(view []byte, at int) float64 {
	sum := 0.0
	for i := max(0, at-16); i < min(len(view), at+16); i += 2 {
		sum += float64(binary.LittleEndian.Uint16(view[i:]))
	}
	return sum / 16
}

type hike struct{ climb, hours float64 }

func (m *model) plan(number int) hike {
	h, row, column := hike{}, float64(number*31%rows), float64(number*97%columns)
	last := m.@{fnCamel}(int(row), int(column))
	for i := range @{points} {
		turn := math.Sin(float64(number+i) / 40)
		row = math.Mod(row+1+turn+rows, rows)
		column = math.Mod(column+3*math.Cos(turn)+columns, columns)
		next := m.@{fnCamel}(int(row), int(column))
		slope := (next - last) / 30
		h.climb += max(0, next-last)
		h.hours += 0.03 / (6 * math.Exp(-3.5*math.Abs(slope+0.05)))
		last = next
	}
	return h
}

func main() {
	file, err := os.Open("@{work}/@{heights}")
	if err != nil {
		log.Fatal(err)
	}
	m := &model{file: file}
	view := "@{view}"
	if view != "piece" {
		m.whole = m.mapped(0, rows*columns*2)
	}
	var busy time.Duration
	plans := map[int]hike{}
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if view == "track" {
			// The sheet of the start, as the printed plan shows it.
			sheet := m.mapped(int64(units*31%rows*columns*2/piece*piece), piece)
			plans[-1] = hike{climb: smooth(sheet, 16)}
			syscall.Munmap(sheet)
		}
		plans[units%500] = m.plan(units)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), m.mapping.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
