// The board of ski lifts: which run, what wind there is, how long one waits.
package main

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

type cabin struct {
	Number int     `xml:"number,attr"`
	Seats  int     `xml:"seats,attr"`
	Hours  float64 `xml:"hours"`
}

type lift struct {
	Name   string  `xml:"name,attr"`
	Valley string  `xml:"valley"`
	Runs   bool    `xml:"runs"`
	Queue  int     `xml:"queue"`
	Winds  []int   `xml:"winds>wind"`
	Cabins []cabin `xml:"cabin"`
}

type board struct {
	XMLName xml.Name `xml:"board"`
	Lifts   []*lift  `xml:"lift"`
	before  map[int][]byte
	news    []string
}

func newBoard(count int) *board {
	b := &board{before: map[int][]byte{}}
	for number := 0; number < count; number++ {
		one := &lift{Name: fmt.Sprintf("Lift %d", number), Valley: fmt.Sprintf("Valley %d", number%37)}
		for i := 0; i < 3; i++ {
			one.Cabins = append(one.Cabins, cabin{i, 4 + number%5, float64(number)*11.5 + float64(i)})
		}
		b.Lifts = append(b.Lifts, one)
	}
	return b
}

func (l *lift) hear(wind, queue, runs int) {
	if len(l.Winds) == 0 || l.Winds[len(l.Winds)-1] != wind {
		l.Winds = append(l.Winds, wind)
		l.Winds = l.Winds[max(0, len(l.Winds)-12):]
	}
	l.Queue, l.Runs = queue, runs == 1 && wind < 80
}

//go:noinline
func (b *board) @{fnCamel}(number int) (bool, error) {
	place, what := number, any(b.Lifts[number])
	if "@{compare}" == "all" {
		place, what = -1, b
	}
	text, err := xml.Marshal(what)
	changed := !bytes.Equal(text, b.before[place])
	b.before[place] = text
	return changed, err
}

func (b *board) tell(one *lift) {
	seats, winds := 0, 0
	for _, c := range one.Cabins {
		seats += c.Seats
	}
	for _, wind := range one.Winds {
		winds += wind
	}
	state := "closed"
	if one.Runs {
		state = "runs"
	}
	b.news = append(b.news, fmt.Sprintf("%s (%s): %s, %d min, wind %.1f", one.Name, one.Valley, state, one.Queue*60/seats, float64(winds)/float64(len(one.Winds))))
	b.news = b.news[max(0, len(b.news)-50):]
}

func main() {
	line, err := net.Dial("tcp", "127.0.0.1:@{feed}")
	if err != nil {
		log.Fatal(err)
	}
	defer line.Close()
	b := newBoard(@{lifts})
	var busy, comparing time.Duration
	units, began := 0, time.Now()
	for in := bufio.NewScanner(line); time.Since(began).Seconds() < @{seconds} && in.Scan(); {
		start := time.Now()
		var number, wind, queue, runs int
		if _, err := fmt.Sscan(in.Text(), &number, &wind, &queue, &runs); err != nil {
			log.Print(err)
			continue
		}
		b.Lifts[number].hear(wind, queue, runs)
		asked := time.Now()
		changed, err := b.@{fnCamel}(number)
		if err != nil {
			log.Fatal(err)
		}
		comparing += time.Since(asked)
		if changed {
			b.tell(b.Lifts[number])
		}
		units++
		busy += time.Since(start)
	}
	os.WriteFile("@{work}/board.txt", []byte(strings.Join(b.news, "\n")), 0o644)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), comparing.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
