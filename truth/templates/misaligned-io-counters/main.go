// Takes the counts of bicycle counters: each sends a day's passages by the minute; a day has a place of its own in the store.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"time"
)

const (
	record = @{record}
	size   = @{size}
	places = @{places}
)

type day struct {
	counter, date int
	minutes       [record/2 - 8]uint16
}

type store struct {
	days, journal *os.File
	spent         time.Duration
	written       int
}

func open() (*store, error) {
	days, err := os.OpenFile("@{work}/@{store}", os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	journal, err := os.OpenFile("@{work}/@{journal}", os.O_WRONLY|os.O_APPEND, 0o644)
	return &store{days: days, journal: journal}, err
}

// What a counter sends for a day.
func received(number int) *day {
	d := &day{counter: number % 300, date: number / 300}
	seed := uint32(number)*2654435761 + 1
	for i := range d.minutes {
		seed = seed*1664525 + 1013904223
		d.minutes[i] = uint16(seed>>24) % 40
	}
	return d
}

// Counters count a group as one: busy minutes are made larger by what the minutes around them have.
func (d *day) correct() {
	for pass := 0; pass < @{effort}*4; pass++ {
		for i := 2; i+2 < len(d.minutes); i++ {
			around := d.minutes[i-2] + d.minutes[i-1] + d.minutes[i+1] + d.minutes[i+2]
			if d.minutes[i] > 30 && around > 60 {
				d.minutes[i] += around / 64
			}
		}
	}
}

func (d *day) packed() []byte {
	out := make([]byte, size)
	binary.LittleEndian.PutUint32(out, uint32(d.counter))
	binary.LittleEndian.PutUint32(out[4:], uint32(d.date))
	for i, count := range d.minutes {
		binary.LittleEndian.PutUint16(out[16+i*2:], count)
	}
	binary.LittleEndian.PutUint32(out[8:], crc32.ChecksumIEEE(out[16:]))
	return out
}

func (s *store) @{fnCamel}(d *day) error {
	packed := d.packed()
	start := time.Now()
	defer func() { s.spent += time.Since(start) }()
	s.written++
	if "@{into}" == "journal" {
		_, err := s.journal.Write(packed)
		return err
	}
	// The days of one counter are far from each other, so that a year can grow.
	place := (d.counter*7919 + d.date*104729) % places
	_, err := s.days.WriteAt(packed, int64(place)*size)
	return err
}

func main() {
	out, err := os.Create("@{work}/counters.out")
	if err != nil {
		log.Fatal(err)
	}
	notes := log.New(out, "", log.LstdFlags)
	s, err := open()
	if err != nil {
		log.Fatal(err)
	}
	units, number, busy, rate, length := 0, 0, time.Duration(0), @{rate}, @{seconds}
	due := time.Now()
	for end := time.Now().Add(time.Duration(length * 1e9)); time.Now().Before(end); {
		due = due.Add(time.Duration(1e9 / rate))
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		start := time.Now()
		for i := 0; i < @{batch}; i++ {
			d := received(number)
			d.correct()
			if err := s.@{fnCamel}(d); err != nil {
				log.Fatal("counter ", d.counter, ": ", err)
			}
			number++
		}
		busy += time.Since(start)
		units++
		if units%20 == 0 {
			notes.Print(s.written, " days")
		}
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), s.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
