// The station of the harbour pilots: takes the ships' positions as they come over the air, keeps a track of each, and says when one comes into an area.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"runtime/metrics"
	"time"
)

const (
	anew   = "@{way}" == "anew"
	length = @{length}
	fleet  = @{fleet}
)

type area struct {
	name string
	x, y float64
}

type message struct {
	ship   int
	second int64
	x, y   float64
}

// fix is a place at which a ship was, as seen from where it is now.
type fix struct {
	second        int64
	dx, dy, speed float64
	before        *fix
}

type track interface {
	add(m message)
	// summary is how far the ship went, and how fast it was at most.
	summary() (way, fastest float64)
}

type listTrack struct {
	fixes []*fix
	x, y  float64
}

// newListTrack is the track of a ship that lay still until now.
func newListTrack() *listTrack {
	t := &listTrack{}
	for i := 0; i < length; i++ {
		t.fixes = append(t.fixes, &fix{second: int64(i - length)})
	}
	return t
}

func (t *listTrack) @{fnCamel}(second int64, dx, dy float64) []*fix {
	moved := make([]*fix, 0, length)
	var last *fix
	for _, one := range t.fixes[len(t.fixes)-length+1:] {
		last = &fix{one.second, one.dx - dx, one.dy - dy, one.speed, last}
		moved = append(moved, last)
	}
	return append(moved, &fix{second, 0, 0, math.Hypot(dx, dy) / 10, last})
}

func (t *listTrack) add(m message) {
	t.fixes = t.@{fnCamel}(m.second, m.x-t.x, m.y-t.y)
	t.x, t.y = m.x, m.y
}

func (t *listTrack) summary() (way, fastest float64) {
	for _, one := range t.fixes {
		if one.before != nil {
			way += math.Hypot(one.dx-one.before.dx, one.dy-one.before.dy)
		}
		fastest = math.Max(fastest, one.speed)
	}
	return
}

type ringTrack struct {
	seconds        [length]int64
	xs, ys, speeds [length]float64
	count          int
}

func (t *ringTrack) add(m message) {
	at, last := t.count%length, (t.count+length-1)%length
	t.speeds[at] = math.Hypot(m.x-t.xs[last], m.y-t.ys[last]) / 10
	t.seconds[at], t.xs[at], t.ys[at] = m.second, m.x, m.y
	t.count++
}

func (t *ringTrack) summary() (way, fastest float64) {
	first := max(0, t.count-length)
	for i := first; i < t.count; i++ {
		at, before := i%length, (i+length-1)%length
		if i > first {
			way += math.Hypot(t.xs[at]-t.xs[before], t.ys[at]-t.ys[before])
		}
		fastest = math.Max(fastest, t.speeds[at])
	}
	return
}

type station struct {
	areas  []area
	tracks []track
	where  [fleet]string
	calls  []string
	xs, ys [fleet]float64
	heard  int
	near   int
}

func newStation(areas []area) *station {
	s := &station{areas: areas}
	for ship := 0; ship < fleet; ship++ {
		if anew {
			s.tracks = append(s.tracks, newListTrack())
		} else {
			s.tracks = append(s.tracks, &ringTrack{})
		}
	}
	return s
}

// receive is what the receiver says next.
func (s *station) receive() message {
	ship, second := s.heard%fleet, int64(s.heard/fleet*10)
	s.heard++
	turn := float64(ship)*0.7 + float64(second)/900
	far := @{reach} * (0.3 + 0.7*math.Abs(math.Sin(float64(second)/4000+float64(ship))))
	return message{ship, second, far * math.Cos(turn), far * math.Sin(turn)}
}

// clearance is how far off the next ship is.
func (s *station) clearance(m message) float64 {
	least := math.MaxFloat64
	for other := range s.xs {
		dx, dy := s.xs[other]-m.x, s.ys[other]-m.y
		if far := dx*dx + dy*dy; far < least && other != m.ship {
			least = far
		}
	}
	return math.Sqrt(least)
}

func (s *station) take(m message) {
	s.tracks[m.ship].add(m)
	s.xs[m.ship], s.ys[m.ship] = m.x, m.y
	if s.clearance(m) < 30 {
		s.near++
	}
	here := "sea"
	for _, one := range s.areas {
		if math.Hypot(m.x-one.x, m.y-one.y) < 2500 {
			here = one.name
		}
	}
	before := s.where[m.ship]
	s.where[m.ship] = here
	if before == "" || before == here {
		return
	}
	way, _ := s.tracks[m.ship].summary()
	s.calls = append(s.calls, fmt.Sprintf("ship %d %s to %s after %.0f m", m.ship, before, here, way))
	if len(s.calls) > 100 {
		s.calls = s.calls[1:]
	}
}

func readAreas(path string) ([]area, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var areas []area
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var one area
		if _, err := fmt.Sscan(lines.Text(), &one.name, &one.x, &one.y); err != nil {
			return nil, err
		}
		areas = append(areas, one)
	}
	return areas, nil
}

func spent(name string) float64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	areas, err := readAreas("@{work}/areas.txt")
	if err != nil {
		log.Fatal(err)
	}
	s := newStation(areas)
	units := 0
	var busy float64
	before := spent("/cpu/classes/gc/total:cpu-seconds")
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for i := 0; i < @{sweep}*60; i++ {
			s.take(s.receive())
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	last := ""
	if len(s.calls) > 0 {
		last = s.calls[len(s.calls)-1]
	}
	log.Printf("%d ships, %d times near, last call: %s", len(s.tracks), s.near, last)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": min(busy, spent("/cpu/classes/gc/total:cpu-seconds")-before)})
	if err := os.WriteFile("@{report}", text, 0o644); err != nil {
		log.Fatal(err)
	}
}
