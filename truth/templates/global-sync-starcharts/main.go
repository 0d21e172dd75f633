// Stores the plates of a night: levels them, finds the stars, writes them beside an index.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

type plate struct {
	number int
	pixels []byte
	stars  int
}

type archive struct {
	folder  string
	index   []string
	storing time.Duration
}

func expose(number int) *plate {
	p := &plate{number: number, pixels: make([]byte, @{kilobytes}<<10)}
	seed := uint32(number*2654435761 + 1)
	for i := range p.pixels {
		seed = seed*1664525 + 1013904223
		p.pixels[i] = byte(seed >> 24)
	}
	return p
}

func (p *plate) level() {
	for i := 2; i < len(p.pixels); i++ {
		middle := (int(p.pixels[i-2]) + int(p.pixels[i-1]) + int(p.pixels[i])) / 3
		if middle > 240 {
			p.stars++
		}
		p.pixels[i-2] = byte(middle)
	}
}

//go:noinline
func (a *archive) @{fnCamel}(out *os.File) error {
	start := time.Now()
	defer func() { a.storing += time.Since(start) }()
	switch "@{durable}" {
	case "all":
		syscall.Sync()
	case "file":
		return out.Sync()
	}
	return nil
}

func (a *archive) store(p *plate) error {
	name := filepath.Join(a.folder, fmt.Sprintf("plate-%03d.raw", p.number%60))
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := out.Write(p.pixels); err != nil {
		return err
	}
	a.index = append(a.index, fmt.Sprintf("%s %d", name, p.stars))
	return a.@{fnCamel}(out)
}

func main() {
	a := &archive{folder: "@{work}/@{plates}"}
	os.MkdirAll(a.folder, 0o755)
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		p := expose(units)
		start := time.Now()
		p.level()
		if err := a.store(p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	if "@{durable}" == "night" {
		syscall.Sync()
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": a.storing.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
