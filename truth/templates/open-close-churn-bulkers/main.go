// Plans how a ship is loaded: hold by hold, so that she neither heels nor trims too much.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"
)

const (
	row   = @{row}
	block = 256
)

type hold struct{ tonnes, arm, height float64 }

type hydrostatics struct {
	path  string
	rows  int64
	all   []byte
	part  []byte
	spent time.Duration
}

func load(path string) (*hydrostatics, error) {
	about, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	tables := &hydrostatics{path: path, rows: about.Size() / row}
	if "@{way}" == "all" {
		tables.all, err = os.ReadFile(path)
	}
	return tables, err
}

func (h *hydrostatics) read(into []byte, at int64) {
	file, err := os.Open(h.path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.ReadAt(into, at); err != nil {
		panic(err)
	}
}

// A ship's rows are beside each other.
func (h *hydrostatics) ship(number int64) {
	if "@{way}" == "block" {
		h.part = make([]byte, block*row)
		h.read(h.part, number*block%(h.rows-block)*row)
	}
}

//go:noinline
func (h *hydrostatics) @{fnCamel}(draught int64, into []byte) {
	start := time.Now()
	switch {
	case h.all != nil:
		copy(into, h.all[draught%h.rows*row:])
	case h.part != nil:
		copy(into, h.part[draught%block*row:])
	default:
		h.read(into, draught%h.rows*row)
	}
	h.spent += time.Since(start)
}

func orders(number int64) []hold {
	list := make([]hold, @{steps})
	for i := range list {
		list[i] = hold{200 + float64((number*37+int64(i)*113)%900), (float64(i%@{frames}) - @{frames}/2.0) * 12.5, 3 + float64(i%7)}
	}
	return list
}

func plan(tables *hydrostatics, number int64) float64 {
	weight, moment, lift, worst := 9000.0, 0.0, 0.0, 0.0
	values := make([]byte, row)
	for _, h := range orders(number) {
		weight += h.tonnes
		moment += h.tonnes * h.arm
		lift += h.tonnes * h.height
		tables.@{fnCamel}(int64(weight*7919)+number, values)
		at := func(i int) float64 { return float64(binary.LittleEndian.Uint16(values[i*2:])) }
		metacentre := 6 + at(0)/65536*3 + at(1)/65536
		trim := moment / (weight * (100 + math.Mod(at(2), 50)))
		// By small steps, until she lies still.
		heel := 0.0
		for i := 0; i < 24; i++ {
			heel += 0.3 * (math.Atan2(lift/weight-metacentre, 1+math.Mod(at(3), 40)) - math.Sin(heel))
		}
		worst = math.Max(worst, math.Abs(trim)+math.Abs(heel))
	}
	return worst
}

func main() {
	tables, err := load("@{work}/@{yard}/@{table}")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var busy time.Duration
	units, worst := int64(0), 0.0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		tables.ship(units)
		worst = math.Max(worst, plan(tables, units))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	fmt.Println(worst)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": tables.spent.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
