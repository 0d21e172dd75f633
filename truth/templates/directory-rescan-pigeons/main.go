// Clocks the birds of a race as they come home: a ring is read, its speed worked out, and sealed with the one before.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"
)

type loft struct {
	folder string
	races  map[string]int
	looked time.Time
	spent  time.Duration
}

type arrival struct {
	ring  string
	speed float64
	seal  [32]byte
}

//go:noinline
func (l *loft) @{fnCamel}() error {
	start := time.Now()
	defer func() { l.spent += time.Since(start) }()
	handle, err := os.Open(l.folder)
	if err != nil {
		return err
	}
	defer handle.Close()
	names, err := handle.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, known := l.races[name]; !known {
			l.races[name] = len(l.races)
		}
	}
	l.looked = time.Now()
	return nil
}

func clock(before arrival, number int) arrival {
	a := arrival{ring: fmt.Sprintf("DV-%04d-%02d-%d", number%9973, number%97, number)}
	hours := 1.5 + float64(number%311)/100
	a.speed = (90000 + float64(number*37%60000)) / hours / 60
	a.seal = sha256.Sum256(append(before.seal[:], a.ring...))
	for i := 0; i < @{rounds}; i++ {
		a.seal = sha256.Sum256(append(a.seal[:], before.seal[:]...))
	}
	return a
}

func main() {
	home := loft{folder: "@{work}/@{lists}", races: map[string]int{}}
	pause := time.Duration(@{pause} * float64(time.Second))
	var seasons []string
	if pause < 0 {
		seasons, _ = filepath.Glob("@{work}/@{old}/*")
	}
	var results bytes.Buffer
	var best []arrival
	var last arrival
	units, busy := 0, time.Duration(0)
	began := time.Now()
	length := time.Duration(@{seconds} * float64(time.Second))
	for time.Since(began) < length {
		start := time.Now()
		if pause < 0 {
			if units < len(seasons) {
				home.folder = seasons[units]
				home.@{fnCamel}()
			}
		} else if start.Sub(home.looked) >= pause {
			if err := home.@{fnCamel}(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		last = clock(last, units)
		best = append(best, last)
		if len(best) > 50 {
			sort.Slice(best, func(i, j int) bool { return best[i].speed > best[j].speed })
			best = best[:40]
		}
		fmt.Fprintf(&results, "%s;%d;%.3f;%x\n", last.ring, units%(len(home.races)+1), last.speed, last.seal[:6])
		if results.Len() > 1<<20 {
			results.Reset()
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * float64(time.Second)))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": home.spent.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
