// Answers what the weather is at a place: reads the cell's samples, and marks when the cell was of use.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"
)

var rate = @{rate}

type forecaster struct {
	cells   int
	marking time.Duration
}

func (f *forecaster) sample(cell, turn int) (mean, worst float64, err error) {
	grid, err := os.Open(fmt.Sprintf("@{work}/run/@{grids}/cell%d.grid", cell))
	if err != nil {
		return
	}
	defer grid.Close()
	row := make([]byte, 4*@{samples})
	if _, err = grid.ReadAt(row, int64(turn%7)*512); err != nil {
		return
	}
	for i := 0; i < @{samples}; i++ {
		celsius := float64(binary.LittleEndian.Uint32(row[4*i:])%6000)/100 - 20
		mean += celsius / @{samples}
		worst = math.Max(worst, celsius)
	}
	return
}

//go:noinline
func (f *forecaster) @{fn}(cell int, mean float64) error {
	began := time.Now()
	defer func() { f.marking += time.Since(began) }()
	grid, err := os.OpenFile(fmt.Sprintf("@{work}/@{marks}/cell%d.grid", cell), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer grid.Close()
	var head [16]byte
	binary.LittleEndian.PutUint64(head[:], uint64(time.Now().Unix()))
	binary.LittleEndian.PutUint64(head[8:], math.Float64bits(mean))
	_, err = grid.WriteAt(head[:], 0)
	return err
}

func main() {
	f := &forecaster{cells: @{cells}}
	began, busy, turn := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		cell := turn % f.cells
		mean, _, err := f.sample(cell, turn)
		if err == nil {
			err = f.@{fn}(cell, mean)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		turn++
		busy += time.Since(start)
		time.Sleep(time.Duration(1e9/rate) - time.Since(start))
	}
	text, _ := json.Marshal(map[string]any{"units": turn, "seconds": busy.Seconds(), "culprit": f.marking.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
