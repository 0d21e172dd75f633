// Finds the free seats of trains: inquiries look at the table of all seats; the table is written by the reservations only, in short spans.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	tableBytes = @{table_mb} << 20
	sheetBytes = @{sheet_kb} << 10
	writable   = syscall.PROT_READ | syscall.PROT_WRITE
)

type table struct {
	seats []byte
	log   *log.Logger
}

type desk struct {
	number, units int
	busy, spent   time.Duration
	found         uint64
	sheet         []byte
}

func mapped(size int) []byte {
	memory, err := syscall.Mmap(-1, 0, size, writable, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		log.Fatal(err)
	}
	return memory
}

// A sheet for one inquiry, outside of the heap.
func (d *desk) @{fnCamel}() []byte {
	if @{keep} == 1 && d.sheet != nil {
		return d.sheet
	}
	start := time.Now()
	d.sheet = mapped(sheetBytes)
	d.spent += time.Since(start)
	return d.sheet
}

func (d *desk) release() {
	if @{keep} == 1 {
		return
	}
	start := time.Now()
	if err := syscall.Munmap(d.sheet); err != nil {
		log.Fatal(err)
	}
	d.spent += time.Since(start)
}

func (d *desk) look(t *table, train int) {
	sheet := d.@{fnCamel}()
	cells := sheetBytes / 64
	for round := 0; round < @{rounds}; round++ {
		for i := 0; i < cells; i++ {
			at := (train*7919 + i*124) % (tableBytes - 4)
			seat := binary.LittleEndian.Uint32(t.seats[at:]) % 1000
			binary.LittleEndian.PutUint32(sheet[i*4:], seat)
			d.found = d.found*31 + uint64(seat)
		}
	}
	d.release()
}

func (d *desk) serve(t *table, end time.Time) {
	rate := @{rate}
	due := time.Now()
	for time.Now().Before(end) {
		due = due.Add(time.Duration(1e9 / rate))
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		start := time.Now()
		for part := 0; part < @{sheets}; part++ {
			d.look(t, d.number*1000+d.units*10+part)
		}
		d.busy += time.Since(start)
		d.units++
	}
}

// The reservations of a moment; whoever else writes to the table is to fall at once.
func (t *table) @{fn2}(end time.Time) {
	for edition := 1; time.Now().Before(end); edition++ {
		if err := syscall.Mprotect(t.seats, writable); err != nil {
			log.Fatal(err)
		}
		for i := 0; i < 200; i++ {
			t.seats[(edition*977+i*131)%tableBytes] ^= byte(edition)
		}
		if err := syscall.Mprotect(t.seats, syscall.PROT_READ); err != nil {
			log.Fatal(err)
		}
		if edition%100 == 0 {
			t.log.Print("edition ", edition)
		}
		time.Sleep(time.Duration(float64(@{often_ms}) * 1e6))
	}
}

func main() {
	out, err := os.Create("@{work}/seats.log")
	if err != nil {
		log.Fatal(err)
	}
	t := &table{seats: mapped(tableBytes), log: log.New(out, "", log.LstdFlags)}
	for i := 0; i < tableBytes; i += 4 {
		binary.LittleEndian.PutUint32(t.seats[i:], uint32(i)*2654435761)
	}
	length := @{seconds}
	end := time.Now().Add(time.Duration(length * 1e9))
	go t.@{fn2}(end)
	desks := make([]desk, @{clerks})
	var all sync.WaitGroup
	for i := range desks {
		desks[i].number = i
		all.Add(1)
		go func() {
			defer all.Done()
			desks[i].serve(t, end)
		}()
	}
	all.Wait()
	units, busy, spent := 0, 0.0, 0.0
	for i := range desks {
		d := &desks[i]
		units, busy, spent = units+d.units, busy+d.busy.Seconds(), spent+d.spent.Seconds()
		t.log.Printf("desk %d: %d inquiries", i, d.units)
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, spent)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
