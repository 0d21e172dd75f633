// Plays the water show: works each moment's figure out, and sends the jet that changes most its command.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
)

type show struct {
	heights  []float64
	starting time.Duration
	out      []int
}

// A command takes its time on the bus, which the music does not wait for.
//
//go:noinline
func (s *show) @{fn}(jet int, height float64) {
	start := time.Now()
	word := fmt.Sprintf("J%02d H%05.1f", jet, height)
	child, err := syscall.ForkExec("@{work}/valve", []string{"valve", word, fmt.Sprint(jet)},
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "jet", jet, err)
		return
	}
	switch "@{collect}" {
	case "each":
		go syscall.Wait4(child, nil, 0, nil)
	case "some":
		s.out = append(s.out, child)
	}
	s.starting += time.Since(start)
}

func (s *show) moment(beat int) {
	most, at, wanted := -1.0, 0, 0.0
	for jet := range s.heights {
		t := float64(beat)
		height := 4 + 3*math.Sin(t*0.21+float64(jet)*0.7) + 2*math.Cos(t*0.05*float64(jet))
		if change := math.Abs(height - s.heights[jet]); change > most {
			most, at, wanted = change, jet, height
		}
	}
	s.heights[at] = wanted
	s.@{fn}(at, wanted*10)
	if beat%4 == 3 {
		left := s.out[:0]
		for _, child := range s.out {
			if got, _ := syscall.Wait4(child, nil, syscall.WNOHANG, nil); got == 0 {
				left = append(left, child)
			}
		}
		s.out = left
	}
}

func main() {
	s := &show{heights: make([]float64, @{jets})}
	began, busy, beat := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		s.moment(beat)
		beat++
		busy += time.Since(start)
		due := float64(beat) / @{rate}
		time.Sleep(time.Duration(due*1e9) - time.Since(began))
	}
	text, _ := json.Marshal(map[string]any{"units": beat, "seconds": busy.Seconds(), "culprit": s.starting.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
