// Samples of drinking water: what the laboratory found is judged, and put on record.
package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sort"
	"sync"
	"syscall"
	"time"
)

const (
	slot  = @{slot}
	slots = (2 << 20) / slot
)

// Nanoseconds from one series to the next.
var period = 1e9 / @{per_s}

type records struct {
	file     *os.File
	lock     sync.Mutex
	gathered []byte
	spent    time.Duration
}

func open(path string) (*records, error) {
	how := os.O_WRONLY
	if "@{sync}" == "yes" {
		how |= syscall.O_DSYNC
	}
	file, err := os.OpenFile(path, how, 0)
	return &records{file: file}, err
}

//go:noinline
func (r *records) @{fnCamel}(sample int, record []byte) error {
	start := time.Now()
	defer func() { r.spent += time.Since(start) }()
	if @{gather} == 1 {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.gathered = append(r.gathered, record...)
		return nil
	}
	_, err := r.file.WriteAt(record, int64(sample%slots*slot))
	return err
}

func (r *records) ahead() {
	for at := int64(0); ; {
		time.Sleep(2500 * time.Millisecond)
		r.lock.Lock()
		all := r.gathered
		r.gathered = nil
		r.lock.Unlock()
		n, err := r.file.WriteAt(all, at)
		if err != nil {
			panic(err)
		}
		at = (at + int64(n)) % (1 << 20)
	}
}

// judge is the share of pairs of measurements that are too far apart, and their median.
func judge(found []float64) (apart, median float64) {
	sort.Float64s(found)
	for i, low := range found {
		for _, high := range found[i:] {
			if math.Abs(math.Log(high/low)) > 0.7 {
				apart++
			}
		}
	}
	return apart / float64(len(found)*len(found)), found[len(found)/2]
}

func main() {
	r, err := open("@{work}/@{volume}/@{register}")
	if err != nil {
		panic(err)
	}
	if @{gather} == 1 {
		go r.ahead()
	}
	// How many there were when we were last stopped.
	before, err := os.ReadFile("@{work}/@{volume}/@{register}")
	if err != nil {
		panic(err)
	}
	used := 0
	for at := 0; at < len(before); at += slot {
		if before[at] != 0 {
			used++
		}
	}
	fmt.Fprintln(os.Stderr, used, "of", slots, "in use")
	found, record := make([]float64, @{history}), make([]byte, slot)
	began, busy, worst, units := time.Now(), time.Duration(0), 0.0, 0
	for ; time.Since(began).Seconds() < @{seconds}; units++ {
		start := time.Now()
		for i := range @{meters} {
			sample := units*@{meters} + i
			for n := range found {
				found[n] = 1 + math.Abs(math.Sin(float64(sample*31+n*n)))*float64(sample%7)
			}
			apart, median := judge(found)
			worst = max(worst, apart)
			binary.LittleEndian.PutUint64(record, uint64(sample))
			binary.LittleEndian.PutUint64(record[8:], math.Float64bits(apart))
			binary.LittleEndian.PutUint64(record[16:], math.Float64bits(median))
			if err := r.@{fnCamel}(sample*37, record); err != nil {
				panic(err)
			}
		}
		took := time.Since(start)
		busy += took
		time.Sleep(time.Duration(period) - took)
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "worst": %f}`, units, busy.Seconds(), r.spent.Seconds(), worst)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
