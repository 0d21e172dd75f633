// Takes telexes of ships' agents apart: positions, cargo, times. What it finds goes into a table of arrivals.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"time"
)

type arrival struct {
	ship   string
	words  int
	tonnes int
	hours  int
	check  uint32
}

type reader struct {
	trace    *log.Logger
	arrivals map[string]*arrival
	spent    time.Duration
}

type word struct {
	kind  byte
	value int
	text  []byte
}

func classify(text []byte) word {
	digits, value := 0, 0
	for _, letter := range text {
		if letter >= '0' && letter <= '9' {
			digits++
			value = value*10 + int(letter-'0')
		}
	}
	switch {
	case bytes.HasSuffix(text, []byte("MT")) && digits > 0:
		return word{'t', value, text}
	case bytes.HasSuffix(text, []byte("LT")) && digits == 4:
		return word{'h', value / 100, text}
	case digits == 0:
		return word{'w', len(text), text}
	}
	return word{'n', value, text}
}

//go:noinline
func (r *reader) @{fnCamel}(telex, line, at int, found word) {
	start := time.Now()
	r.trace.Printf("telex %d line %d word %d kind %c value %d text %q", telex, line, at, found.kind, found.value, found.text)
	r.spent += time.Since(start)
}

func (r *reader) take(telex int, text []byte) {
	one := &arrival{}
	for number, line := range bytes.Split(text, []byte("\r\n")) {
		for at, part := range bytes.Fields(line) {
			found := classify(part)
			if @{traced} == 1 {
				r.@{fnCamel}(telex, number, at, found)
			}
			switch found.kind {
			case 't':
				one.tonnes += found.value
			case 'h':
				one.hours = max(one.hours, found.value)
			case 'w':
				if one.ship == "" {
					one.ship = string(found.text)
				}
			}
			one.words++
			for _, letter := range part {
				one.check = one.check*131 + uint32(letter)
			}
		}
	}
	r.arrivals[one.ship+strconv.Itoa(telex%@{partners})] = one
	if @{summary} == 1 {
		start := time.Now()
		r.trace.Printf("telex %d: %s, %d words", telex, one.ship, one.words)
		r.spent += time.Since(start)
	}
}

// The telexes of one call: the line delivers them together.
func call(turn int) [][]byte {
	ships := []string{"AURELIA", "NORDKAP", "SANTAROSA", "HALCYON", "MIRAMAR"}
	var all [][]byte
	for telex := 0; telex < 24; telex++ {
		var text bytes.Buffer
		text.WriteString(ships[(turn+telex)%len(ships)] + " ETA PILOT " + strconv.Itoa(1000+turn*7%1300) + "LT\r\n")
		for line := 0; line < @{lines}; line++ {
			text.WriteString("HOLD " + strconv.Itoa(line%7) + " GRAIN " + strconv.Itoa(100+line*13%900) + "MT DISCH " + strconv.Itoa(1000+line) + "LT BERTH " + strconv.Itoa(telex) + "\r\n")
		}
		all = append(all, text.Bytes())
	}
	return all
}

func main() {
	file, err := os.OpenFile("@{work}/@{logs}/@{trace}", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	r := &reader{trace: log.New(file, "telexes ", log.LstdFlags|log.Lmicroseconds), arrivals: map[string]*arrival{}}
	calls := make([][][]byte, 8)
	for turn := range calls {
		calls[turn] = call(turn)
	}
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for number, text := range calls[units%len(calls)] {
			r.take(units*24+number, text)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": r.spent.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
