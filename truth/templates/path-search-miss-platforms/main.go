// Makes the playlists of a station's loudspeakers: of each announcement the clips, with their times.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type word struct {
	clip          string
	pause, stress int
}

type speakers struct {
	order []string
	known map[string]string
	spent time.Duration
}

func open(voices string) *speakers {
	s := &speakers{known: map[string]string{}}
	for i := 1; i <= @{layers}; i++ {
		s.order = append(s.order, filepath.Join(voices, fmt.Sprint("layer-", i), "@{sub}"))
	}
	s.order = append(s.order, filepath.Join(voices, "@{last}", "@{sub}"))
	return s
}

func (s *speakers) list() {
	for i := len(s.order) - 1; i >= 0; i-- {
		entries, err := os.ReadDir(s.order[i])
		if err != nil {
			panic(err)
		}
		for _, entry := range entries {
			s.known[entry.Name()] = filepath.Join(s.order[i], entry.Name())
		}
	}
}

//go:noinline
func (s *speakers) @{fnCamel}(clip string) string {
	if path, ok := s.known[clip]; ok {
		return path
	}
	for _, folder := range s.order {
		path := filepath.Join(folder, clip)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	panic("no clip " + clip)
}

func announcement(number int) []word {
	words := make([]word, @{words})
	for i := range words {
		words[i] = word{fmt.Sprintf("c%d@{ext}", (number*131+i*7)%@{used}), 40 + (number+i)%160, i % 3}
	}
	return words
}

func (s *speakers) playlist(number int) string {
	var lines strings.Builder
	at := 0
	for _, w := range announcement(number) {
		start := time.Now()
		path := s.@{fnCamel}(w.clip)
		s.spent += time.Since(start)
		// How loud, by the hour and by the noise on the platform.
		level := 60 + 8*math.Sin(float64(number)/86.4) + 2*float64(w.stress)
		fmt.Fprintf(&lines, "%08d %5.1f dB %s\n", at, level, path)
		at += 300 + len(w.clip)*35 + w.pause
	}
	return lines.String()
}

func main() {
	s := open("@{work}/@{voices}")
	switch "@{way}" {
	case "listed":
		s.list()
	case "first":
		for i := 0; i < @{used}; i++ {
			clip := fmt.Sprintf("c%d@{ext}", i)
			s.known[clip] = s.@{fnCamel}(clip)
		}
	}
	var busy time.Duration
	units, bytes := 0, 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		bytes += len(s.playlist(units))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	fmt.Println(bytes, "bytes of playlists")
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": s.spent.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
