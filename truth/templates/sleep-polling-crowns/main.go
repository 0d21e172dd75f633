// Plans the crowns of a dental laboratory: the outline of a scan becomes a path for the mill, and the case gets its times.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const tells = @{tell} == 1

type point struct{ x, y, z float64 }

type crown struct {
	number  int
	tooth   string
	outline []point
}

type mill struct {
	line    net.Conn
	answers *bufio.Reader
	results string
	mutex   sync.Mutex
	wear    map[int]float64
}

func (m *mill) cut(c *crown, way float64) (string, error) {
	mode := "quiet"
	if tells {
		mode = "tell"
	}
	_, err := fmt.Fprintf(m.line, "CUT %d %.3f %s\n", c.number, way, mode)
	return filepath.Join(m.results, fmt.Sprintf("crown-%d.result", c.number)), err
}

//go:noinline
func (m *mill) @{fnCamel}(path string) (float64, error) {
	if tells {
		if _, err := m.answers.ReadString('\n'); err != nil {
			return 0, err
		}
	} else {
		for {
			if _, err := os.Stat(path); err == nil {
				break
			} else if !os.IsNotExist(err) {
				return 0, err
			}
			time.Sleep(@{pace} * time.Millisecond)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var number, bur int
	var minutes float64
	if _, err := fmt.Sscanf(string(text), "crown %d minutes %g bur %d", &number, &minutes, &bur); err != nil {
		return 0, err
	}
	m.mutex.Lock()
	m.wear[bur] += minutes
	m.mutex.Unlock()
	return minutes, os.Remove(path)
}

// hygiene asks for another bur before one is blunt.
func (m *mill) hygiene() {
	asked := map[int]bool{}
	for range time.Tick(4 * @{pace} * time.Millisecond) {
		m.mutex.Lock()
		for bur, minutes := range m.wear {
			if minutes > 180 {
				asked[bur] = true
			}
		}
		m.mutex.Unlock()
	}
}

func scanned(number int) *crown {
	chance := rand.New(rand.NewSource(int64(number)))
	found := &crown{number: number, tooth: fmt.Sprintf("%d%d", 1+number%4, 1+number%8)}
	for i := 0; i < 4*@{points}; i++ {
		turn := float64(i) * 2 * math.Pi / (4 * @{points})
		found.outline = append(found.outline, point{math.Cos(turn) * (5 + chance.Float64()), math.Sin(turn) * (4 + chance.Float64()), 2 + chance.Float64()})
	}
	return found
}

// planned is the way of the bur in millimetres: around the crown in layers, smoothed so that it never jumps.
func planned(c *crown) float64 {
	way, layer, smooth := 0.0, append([]point(nil), c.outline...), make([]point, len(c.outline))
	for depth := 0; depth < 160; depth++ {
		for i, at := range layer {
			before, after := layer[(i+len(layer)-1)%len(layer)], layer[(i+1)%len(layer)]
			smooth[i] = point{(before.x + 2*at.x + after.x) / 4, (before.y + 2*at.y + after.y) / 4, at.z - 0.01}
			way += math.Hypot(smooth[i].x-before.x, smooth[i].y-before.y)
		}
		layer, smooth = smooth, layer
	}
	return way
}

func main() {
	line, err := net.Dial("unix", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	m := &mill{line: line, answers: bufio.NewReader(line), results: os.Args[2], wear: map[int]float64{}}
	if @{hygiene} == 1 {
		go m.hygiene()
	}
	book := map[string]float64{}
	units := 0
	var busy, waited time.Duration
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		c := scanned(units)
		path, err := m.cut(c, planned(c))
		if err != nil {
			log.Fatal(err)
		}
		handed := time.Now()
		minutes, err := m.@{fnCamel}(path)
		if err != nil {
			log.Fatal(err)
		}
		waited += time.Since(handed)
		book[c.tooth] += minutes
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println(book)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), waited.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
