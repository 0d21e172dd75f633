// Keeps the map of what players have explored: a step uncovers what is in sight, and the map survives the end of the program.
package main

import (
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"
)

const (
	width, height = @{width}, @{height}
	sight         = @{sight}
)

type fog struct {
	cells  []byte
	file   *os.File
	saving time.Duration
}

func (f *fog) uncover(x, y int) {
	for dy := -sight; dy <= sight; dy++ {
		for dx := -sight; dx <= sight; dx++ {
			if cx, cy := x+dx, y+dy; cx >= 0 && cx < width && cy >= 0 && cy < height && dx*dx+dy*dy <= sight*sight {
				f.cells[cy*width+cx]++
			}
		}
	}
}

//go:noinline
func (f *fog) @{fnCamel}(step, y int) {
	start := time.Now()
	first, end := max(0, y-sight), min(height, y+sight+1)
	if "@{rows}" == "all" || (@{whole} > 0 && step%(@{whole}+1) == @{whole}) {
		first, end = 0, height
	}
	if _, err := f.file.WriteAt(f.cells[first*width:end*width], int64(first*width)); err != nil {
		log.Fatal(err)
	}
	f.saving += time.Since(start)
}

func main() {
	file, err := os.Create("@{work}/@{map}")
	if err != nil {
		log.Fatal(err)
	}
	f := &fog{cells: make([]byte, width*height), file: file}
	file.Write(f.cells)
	begin, busy, steps := time.Now(), time.Duration(0), 0
	for x, y := width/2, height/2; time.Since(begin).Seconds() < @{seconds}; {
		start := time.Now()
		x, y = (x+rand.Intn(7)-3+width)%width, (y+rand.Intn(7)-3+height)%height
		f.uncover(x, y)
		f.@{fnCamel}(steps, y)
		steps++
		busy += time.Since(start)
		time.Sleep(time.Until(begin.Add(time.Duration(steps) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, steps, busy.Seconds(), f.saving.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
