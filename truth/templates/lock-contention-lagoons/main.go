// Draws the soundings of the survey boats into the chart of a lagoon.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	side  = @{side}
	reach = @{reach}
	box   = @{box}
)

type sounding struct {
	x, y  int
	depth float64
}

type chart struct {
	sync.RWMutex
	sum, weight []float64
	edition     int
}

// A grid is a part of the chart, or all of it.
type grid struct {
	x, y, width int
	sum, weight []float64
}

func (g grid) put(s sounding) {
	for y := max(s.y-reach, 0); y <= min(s.y+reach, side-1); y++ {
		for x := max(s.x-reach, 0); x <= min(s.x+reach, side-1); x++ {
			d := float64((x-s.x)*(x-s.x) + (y-s.y)*(y-s.y))
			w := math.Exp(-d / reach)
			at := (y-g.y)*g.width + x - g.x
			g.sum[at] += w * s.depth
			g.weight[at] += w
		}
	}
}

//go:noinline
func (c *chart) @{fnCamel}(survey []sounding) (waited time.Duration) {
	if "@{mode}" == "beside" {
		left, top := side, side
		for _, s := range survey {
			left, top = min(left, s.x-reach), min(top, s.y-reach)
		}
		width := box + 2*reach + 1
		part := grid{left, top, width, make([]float64, width*width), make([]float64, width*width)}
		for _, s := range survey {
			part.put(s)
		}
		start := time.Now()
		c.Lock()
		defer c.Unlock()
		waited = time.Since(start)
		for y := max(top, 0); y < min(top+width, side); y++ {
			for x := max(left, 0); x < min(left+width, side); x++ {
				from := (y-top)*width + x - left
				c.sum[y*side+x] += part.sum[from]
				c.weight[y*side+x] += part.weight[from]
			}
		}
		c.edition++
		return
	}
	start := time.Now()
	c.Lock()
	defer c.Unlock()
	waited = time.Since(start)
	for _, s := range survey {
		grid{0, 0, side, c.sum, c.weight}.put(s)
	}
	c.edition++
	return
}

// deepest is for the harbour's notice board.
func (c *chart) deepest() (deep float64) {
	c.RLock()
	defer c.RUnlock()
	for at := 0; at < len(c.sum); at += 7 {
		if c.weight[at] > 0 {
			deep = max(deep, c.sum[at]/c.weight[at])
		}
	}
	return
}

func sail(number int) string {
	var text strings.Builder
	chance := uint32(number*2654435761 + 1)
	next := func(n int) int { chance = chance*1664525 + 1013904223; return int(chance>>8) % n }
	left, top := next(side-box), next(side-box)
	for range @{soundings} {
		fmt.Fprintf(&text, "%d;%d;%d.%d\n", left+next(box), top+next(box), next(40), next(10))
	}
	return text.String()
}

func parse(text string) (survey []sounding) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		field := strings.Split(line, ";")
		x, _ := strconv.Atoi(field[0])
		y, _ := strconv.Atoi(field[1])
		depth, _ := strconv.ParseFloat(field[2], 64)
		survey = append(survey, sounding{x, y, depth})
	}
	return
}

func main() {
	c := &chart{sum: make([]float64, side*side), weight: make([]float64, side*side)}
	boats := make(chan string, 2)
	var season []string
	for boat := range 40 {
		season = append(season, sail(boat))
	}
	var all sync.WaitGroup
	var units [@{workers}]int
	var busy, waited [@{workers}]time.Duration
	for worker := range @{workers} {
		all.Add(1)
		go func() {
			defer all.Done()
			for text := range boats {
				start := time.Now()
				waited[worker] += c.@{fnCamel}(parse(text))
				busy[worker] += time.Since(start)
				units[worker]++
			}
		}()
	}
	began, board, deep := time.Now(), time.Now(), 0.0
	for boat := 0; time.Since(began).Seconds() < @{seconds}; boat++ {
		boats <- season[boat%len(season)]
		if time.Since(board) > time.Second {
			board, deep = time.Now(), c.deepest()
		}
		time.Sleep(time.Until(began.Add(time.Duration(float64(boat) / @{per_s} * 1e9))))
	}
	close(boats)
	all.Wait()
	n, b, w := 0, time.Duration(0), time.Duration(0)
	for worker := range @{workers} {
		n, b, w = n+units[worker], b+busy[worker], w+waited[worker]
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "deepest": %f}`, n, b.Seconds(), w.Seconds(), deep)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
