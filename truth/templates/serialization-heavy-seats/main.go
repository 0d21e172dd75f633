// The box office of an arena: sells seats, and keeps the plan of the house ready as JSON for the screens at the entrances.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"time"
)

const (
	blocks       = @{blocks}
	seatsOfBlock = 48
)

type seat struct {
	Row    int    `json:"row"`
	Seat   int    `json:"seat"`
	Block  int    `json:"block"`
	Cents  int    `json:"cents"`
	Sold   bool   `json:"sold"`
	Holder string `json:"holder,omitempty"`
	View   string `json:"view"`
}

type block struct {
	Name  string `json:"block"`
	Gate  int    `json:"gate"`
	Seats []seat `json:"seats"`
}

type house []block

func built() house {
	h := make(house, blocks)
	for b := range h {
		h[b] = block{Name: fmt.Sprint("block ", b), Gate: b % 12, Seats: make([]seat, seatsOfBlock)}
		for s := range h[b].Seats {
			view := "full"
			if s%7 == 0 {
				view = "pillar"
			}
			h[b].Seats[s] = seat{Row: s / 8, Seat: s, Block: b, Cents: 1900 + b%9*500, View: view}
		}
	}
	return h
}

type screens struct {
	house   house
	plan    json.RawMessage
	parts   []json.RawMessage
	seconds float64
}

//go:noinline
func (s *screens) @{fnCamel}(b int) (err error) {
	began := time.Now()
	if "@{publish}" == "plan" {
		s.plan, err = json.Marshal(s.house)
	} else {
		s.parts[b], err = json.Marshal(s.house[b])
	}
	s.seconds += time.Since(began).Seconds()
	return err
}

// What a screen is sent when it is switched on.
func (s *screens) text() ([]byte, error) {
	if s.plan != nil {
		return s.plan, nil
	}
	return json.Marshal(s.parts)
}

// The price goes up with those around who have bought.
func price(b block, one seat) int {
	near := 0.0
	for round := 0; round < 1200; round++ {
		for _, other := range b.Seats {
			far := math.Hypot(float64(other.Row-one.Row), float64(other.Seat%8-one.Seat%8)) + float64(round)/800
			if other.Sold {
				near += math.Exp(-far)
			}
		}
	}
	return int(float64(one.Cents) * (1 + math.Min(near/120000, 0.3)))
}

func (h house) sell(number int) (b, s, cents int) {
	b, s = number*37%blocks, number*29%seatsOfBlock
	one := &h[b].Seats[s]
	cents = price(h[b], *one)
	if number%11 == 10 {
		one.Sold, one.Holder = false, ""
	} else {
		one.Sold, one.Holder, one.Cents = true, fmt.Sprint("order ", 100000+number), cents
	}
	return b, s, cents
}

func main() {
	file, err := os.Create("@{work}/sales.csv")
	if err != nil {
		log.Fatal(err)
	}
	journal := bufio.NewWriter(file)
	h := built()
	shown := &screens{house: h, parts: make([]json.RawMessage, blocks)}
	for b := range h {
		if shown.parts[b], err = json.Marshal(h[b]); err != nil {
			log.Fatal(err)
		}
	}
	units, busy, began := 0, 0.0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		b, s, cents := h.sell(units)
		if err := shown.@{fnCamel}(b); err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(journal, "%d;%d;%d;%d\n", units, b, s, cents)
		busy += time.Since(start).Seconds()
		units++
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	text, err := shown.text()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(journal, "plan of %d letters\n", len(text))
	journal.Flush()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, shown.seconds)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
