// A quiz's scorer: marks the answers of the players, round by round, and ranks them.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"runtime/metrics"
	"sort"
	"strconv"
	"time"
)

type marked struct {
	player, given *string
	points        int
	next          *marked
}

// So many as the container's memory was laid out for, of an evening.
var evening float64 = @{heap_mb} * 1048576 / 100 / (@{rate} * @{seconds})
var answers = int(evening)

type quiz struct {
	rounds [][]*marked
	points map[string]int
}

// As text, as it comes from the players: all of a round in one body, which may be so large.
func receive(round int) []byte {
	body := make([]byte, 0, @{body})
	for answer := 0; answer < answers; answer++ {
		body = append(body, "player-"...)
		body = strconv.AppendInt(body, int64((answer*31+round)%@{players}), 10)
		body = append(body, ";q"...)
		body = strconv.AppendInt(body, int64(answer%@{questions}), 10)
		body = append(body, ';')
		body = strconv.AppendInt(body, int64(answer*7919^round*104729), 16)
		body = append(body, ';')
		body = strconv.AppendInt(body, int64((answer*37+round)%100), 10)
		body = append(body, '\n')
	}
	return body
}

func mark(given string, haste int) int {
	sum := 0
	for _, letter := range given {
		sum = sum*31 + int(letter)
	}
	if sum%7 == 0 {
		return 0
	}
	return 10 + haste/10
}

// For the case that somebody protests.
//
//go:noinline
func (q *quiz) @{fnCamel}(round []*marked) {
	q.rounds = append(q.rounds, round)
	if surplus := len(q.rounds) - @{kept}; surplus > 0 {
		clear(q.rounds[:surplus])
		q.rounds = q.rounds[surplus:]
	}
}

func (q *quiz) rank() []string {
	names := make([]string, 0, len(q.points))
	for name := range q.points {
		names = append(names, name)
	}
	sort.Slice(names, func(a, b int) bool {
		if q.points[names[a]] != q.points[names[b]] {
			return q.points[names[a]] > q.points[names[b]]
		}
		return names[a] < names[b]
	})
	return names[:min(10, len(names))]
}

func (q *quiz) play(round int) []string {
	var all []*marked
	var last *marked
	body := receive(round)
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		name, line, _ := bytes.Cut(line, []byte(";"))
		_, line, _ = bytes.Cut(line, []byte(";"))
		answer, late, _ := bytes.Cut(line, []byte(";"))
		haste := 0
		for _, digit := range late {
			haste = haste*10 + int(digit-'0')
		}
		player, given := string(name), string(answer)
		got := mark(given, haste)
		q.points[player] += got
		last = &marked{&player, &given, got, last}
		all = append(all, last)
	}
	q.@{fnCamel}(all)
	return q.rank()
}

func collected() float64 {
	found := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(found)
	return found[0].Value.Float64() - found[1].Value.Float64()
}

func main() {
	q := &quiz{points: map[string]int{}}
	began, units, busy := time.Now(), 0, 0.0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if len(q.play(units)) == 0 {
			log.Fatal("nobody plays")
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text, _ := json.Marshal(map[string]float64{"units": float64(units), "seconds": busy, "culprit": collected()})
	os.WriteFile("@{report}", text, 0o644)
}
