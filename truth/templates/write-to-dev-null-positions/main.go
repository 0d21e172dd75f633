// A gateway for positions of buses: smooths the last ones of each, and says how late it is.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type fix struct{ lat, lon, speed float64 }

type gateway struct {
	level  string
	window int
	debug  *log.Logger
	last   map[int][]fix
	late   map[int]float64
	spent  time.Duration
}

func configured(path string) (*gateway, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &gateway{window: 8, last: map[int][]fix{}, late: map[int]float64{}}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, " = ")
		switch name {
		case "debug_log":
			file, err := os.OpenFile(value, os.O_WRONLY|os.O_APPEND, 0o644)
			if err != nil {
				return nil, err
			}
			g.debug = log.New(file, "DEBUG ", log.LstdFlags|log.Lmicroseconds)
		case "level":
			g.level = value
		case "window":
			if g.window, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

//go:noinline
func (g *gateway) @{fnCamel}(text string, rest ...any) {
	start := time.Now()
	g.debug.Printf(text, rest...)
	g.spent += time.Since(start)
}

func (g *gateway) smoothed(bus int) fix {
	var mean fix
	all := 0.0
	window := g.last[bus]
	for i, one := range window {
		weight := 1 / (1 + float64(len(window)-1-i)*0.5)
		mean.lat += one.lat * weight
		mean.lon += one.lon * weight
		mean.speed += one.speed * weight
		all += weight
		if g.level == "all" {
			g.@{fnCamel}("bus %d step %d of %d: lat %.6f lon %.6f speed %.0f weight %.3f sums %.6f %.6f %.3f", bus, i, len(window), one.lat, one.lon, one.speed, weight, mean.lat, mean.lon, all)
		}
	}
	return fix{mean.lat / all, mean.lon / all, mean.speed / all}
}

// How far it is from where the timetable has it, in minutes.
func lateness(bus int, at fix) float64 {
	best, stop := math.Inf(1), 0
	for i := 0; i < 60; i++ {
		north := at.lat - 48 - math.Pow(math.Sin(float64(bus+i)), 2)
		east := (at.lon - 11 - math.Pow(math.Cos(float64(bus*i)), 2)) * 0.67
		if far := math.Hypot(north, east) * 111; far < best {
			best, stop = far, i
		}
	}
	return best*60/(at.speed+5) - float64(stop%3)
}

func (g *gateway) take(line string) error {
	words := strings.Split(line, ";")
	if len(words) != 4 {
		return fmt.Errorf("not a position: %q", line)
	}
	bus, err := strconv.Atoi(words[0])
	if err != nil {
		return err
	}
	var numbers [3]float64
	for i := range numbers {
		if numbers[i], err = strconv.ParseFloat(words[i+1], 64); err != nil {
			return err
		}
	}
	window := append(g.last[bus], fix{numbers[0], numbers[1], numbers[2]})
	if len(window) > g.window {
		window = append(window[:0], window[1:]...)
	}
	g.last[bus] = window
	g.late[bus] = lateness(bus, g.smoothed(bus))
	return nil
}

func main() {
	g, err := configured("@{app}.conf")
	if err != nil {
		log.Fatal(err)
	}
	radio, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(bufio.NewReaderSize(radio, 65536))
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} && lines.Scan() {
		start := time.Now()
		count, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "BATCH "))
		if err != nil {
			log.Fatal(err)
		}
		for i := 0; i < count && lines.Scan(); i++ {
			if err := g.take(lines.Text()); err != nil {
				log.Print(err)
			}
		}
		if g.level != "none" {
			g.@{fnCamel}("batch of %d, %d buses known", count, len(g.late))
		}
		units++
		busy += time.Since(start)
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), g.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
