package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

var item = regexp.MustCompile(`^/items/(\d+)$`)

type hit struct {
	item, status, size int
	took              float64
}

//go:noinline
func @{fnCamel}(text []byte) []hit {
	var hits []hit
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		words := strings.Fields(string(text[:end]))
		text = text[end+1:]
		found := item.FindStringSubmatch(words[4])
		if found == nil {
			continue
		}
		number, _ := strconv.Atoi(found[1])
		status, _ := strconv.Atoi(words[5])
		size, _ := strconv.Atoi(words[6])
		took, _ := strconv.ParseFloat(words[7], 64)
		hits = append(hits, hit{number, status, size, took})
	}
	return hits
}

func busiest(hits []hit) (most int) {
	var counts [5000]int
	for _, h := range hits {
		if h.status == @{status} {
			counts[h.item]++
			most = max(most, counts[h.item])
		}
	}
	return most
}

func main() {
	units, busy, parsing := 0, 0.0, 0.0
	var kept []hit
	if @{index} == 1 {
		text, _ := os.ReadFile("@{log}")
		kept = @{fnCamel}(text)
	}
	start := now()
	for now()-start < @{seconds} {
		at := now()
		hits := kept
		if hits == nil {
			text, err := os.ReadFile("@{log}")
			if err != nil {
				panic(err)
			}
			before := now()
			hits = @{fnCamel}(text)
			parsing += now() - before
		}
		busiest(hits)
		units++
		busy += now() - at
		waitUntil(start + float64(units)/@{rate})
	}
	report(units, busy, parsing)
}
