// Prices telephone calls. The table says what a minute to a prefix costs; a new edition of it comes now and then.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"sync"
	"time"
)

var scales = [...]uint64{1_000_000, 100_000, 10_000}

type entry struct {
	prefix uint64
	cents  uint32
}

// Never changed once it is printed.
type edition struct {
	entries []entry
}

func printed(number int) *edition {
	e := &edition{make([]entry, @{entries})}
	for i := range e.entries {
		e.entries[i] = entry{uint64(20000 + i*48271%900000), uint32(1 + (i*31+number)%90)}
	}
	return e
}

func (e *edition) price(callee uint64) uint32 {
	longest, cents := uint64(0), uint32(99)
	for i, one := range e.entries {
		if one.prefix > longest && callee/scales[i%3] == one.prefix {
			longest, cents = one.prefix, one.cents
		}
	}
	return cents
}

type desk struct {
	@{lock} sync.Mutex
	present *edition
}

type worker struct {
	number       int
	units        int
	busy, waited float64
	takings      uint64
}

//go:noinline
func (d *desk) @{fnCamel}(w *worker, callee uint64) uint32 {
	asked := time.Now()
	d.@{lock}.Lock()
	w.waited += time.Since(asked).Seconds()
	present := d.present
	if "@{view}" == "edition" {
		d.@{lock}.Unlock()
		return present.price(callee)
	}
	defer d.@{lock}.Unlock()
	return present.price(callee)
}

// A line of the bill, with its check number.
func billed(call, callee uint64, cents uint32) uint32 {
	sum := uint32(0)
	for part := 0; part < 40; part++ {
		line := fmt.Sprintf("%d;%d;%d;%d.%02d", call, callee, part, cents/100, cents%100)
		sum = crc32.Update(sum, crc32.IEEETable, []byte(line))
	}
	return sum
}

func (w *worker) work(d *desk, began time.Time) {
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		call := uint64(w.units*37 + w.number)
		callee := 20_000_000_000 + call*7368787%900_000_000
		cents := d.@{fnCamel}(w, callee) * uint32(1+call%40)
		w.takings += uint64(cents) + uint64(billed(call, callee, cents)%2)
		w.busy += time.Since(start).Seconds()
		w.units++
		due := float64(w.units)/@{rate} + float64(w.number)*0.004
		time.Sleep(time.Duration((due - time.Since(began).Seconds()) * 1e9))
	}
}

func (d *desk) publish() {
	for number := 2; ; number++ {
		time.Sleep(time.Duration(@{editions} * 1e9))
		next := printed(number)
		d.@{lock}.Lock()
		d.present = next
		d.@{lock}.Unlock()
	}
}

func main() {
	d := &desk{present: printed(1)}
	go d.publish()
	workers := make([]worker, @{workers})
	began := time.Now()
	var all sync.WaitGroup
	for i := range workers {
		workers[i].number = i
		all.Add(1)
		go func(w *worker) {
			defer all.Done()
			w.work(d, began)
		}(&workers[i])
	}
	all.Wait()
	units, busy, waited := 0, 0.0, 0.0
	for _, w := range workers {
		units, busy, waited = units+w.units, busy+w.busy, waited+w.waited
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, waited)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
