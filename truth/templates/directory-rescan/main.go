package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const folder = "@{work}/@{folder}"

type ask struct {
	item  int
	reply chan string
}

var (
	known   []string
	listed  time.Time
	culprit time.Duration
)

func @{fnCamel}() []string {
	began := time.Now()
	if listed.IsZero() || began.Sub(listed) >= @{relist}*time.Second {
		known, _ = filepath.Glob(filepath.Join(folder, "@{stem}-*.map"))
		listed = began
		culprit += time.Since(began)
	}
	return known
}

// router tells which map is in charge of an item.
func router(asks chan ask) {
	for a := range asks {
		maps := @{fnCamel}()
		name := maps[a.item%len(maps)]
		a.reply <- strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".map")
	}
}

func main() {
	asks := make(chan ask)
	go router(asks)
	reply := make(chan string)
	units, sum := 0, uint32(0)
	var busy time.Duration
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for i := 0; i < @{looks}; i++ {
			asks <- ask{units + i, reply}
			for _, c := range []byte(<-reply) {
				for k := 0; k < @{extra}; k++ {
					sum = sum*31 + uint32(c)
				}
			}
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "odd": %d}`, units, busy.Seconds(), culprit.Seconds(), sum&1)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
