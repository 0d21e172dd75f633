package main

import (
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

type quote struct {
	symbol   string
	venue    *string
	bid, ask float64
}

var venues = []string{"north", "south", "east", "west"}
var board = map[string]*quote{}

//go:noinline
func @{fn}(symbols []string, round, count int) float64 {
	spread := 0.0
	for i := 0; i < count; i++ {
		symbol := symbols[(round*count+i)%len(symbols)]
		last := board[symbol]
		if @{reuse} == 1 {
			last.bid, last.ask, last.venue = last.ask, last.bid+0.01, &venues[i&3]
		} else {
			board[symbol] = &quote{symbol + "/" + strconv.Itoa(round), &venues[i&3], last.ask, last.bid + 0.01}
		}
		spread += last.ask - last.bid
	}
	return spread
}

func collector() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	symbols := make([]string, @{live})
	for i := range symbols {
		symbols[i] = "S" + strconv.Itoa(i*7919)
		board[symbols[i]] = &quote{symbols[i], &venues[i&3], float64(i), float64(i) + 1}
	}
	units, busy, sum := 0, 0.0, 0.0
	start, before := now(), collector()
	for now()-start < @{seconds} {
		at := now()
		sum += @{fn}(symbols, units, @{used})
		units++
		busy += now() - at
		waitUntil(start + float64(units)/@{rate})
	}
	report(units, busy, min(collector()-before, busy))
	fmt.Println(sum)
}
