// The clock of a pigeon race: takes the arrivals, asks the registry for the owner of each ring, and keeps the ranking by speed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"sort"
	"strings"
	"time"
)

type arrival struct {
	ring, loft int
	speed      float64 // metres a minute
}

type registry struct {
	line  net.Conn
	in    *bufio.Reader
	asked int
}

func (r *registry) say(text string) (string, error) {
	if _, err := fmt.Fprintf(r.line, "%s\n", text); err != nil {
		return "", err
	}
	return r.in.ReadString('\n')
}

func (r *registry) open() error {
	line, err := net.Dial("tcp", "127.0.0.1:@{registry}")
	if err != nil {
		return err
	}
	r.line, r.in = line, bufio.NewReader(line)
	if _, err := r.in.ReadString('\n'); err != nil {
		return err
	}
	said, err := r.say("login clock homing")
	if err == nil && !strings.HasPrefix(said, "ok") {
		err = fmt.Errorf("the registry says %q", said)
	}
	return err
}

func (r *registry) close() {
	if r.line != nil {
		r.line.Close()
		r.line = nil
	}
}

//go:noinline
func (r *registry) @{fnCamel}(ring int) (loft, year int, err error) {
	if r.line == nil {
		if err := r.open(); err != nil {
			return 0, 0, err
		}
	}
	said, err := r.say(fmt.Sprintf("ring %d", ring))
	if err != nil {
		return 0, 0, err
	}
	if r.asked++; @{calls} > 0 && r.asked%max(1, @{calls}) == 0 {
		r.close()
	}
	_, err = fmt.Sscanf(said, "owner %d hatched %d", &loft, &year)
	return
}

// How far a loft is from where the pigeons were let go, and thus how fast one flew.
func speed(ring, loft int) float64 {
	metres := 180000 + float64(loft*7919%60000)
	minutes := 130 + float64(ring*104729%9000)/100
	return metres / minutes
}

func main() {
	owners := &registry{}
	defer owners.close()
	ranking := []arrival{}
	units, busy, culprit := 0, 0.0, 0.0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		ring := 100000 + units*37%50000
		asked := time.Now()
		loft, year, err := owners.@{fnCamel}(ring)
		culprit += time.Since(asked).Seconds()
		if err != nil {
			log.Fatal(err)
		}
		if year >= 2017 {
			one := arrival{ring, loft, speed(ring, loft)}
			at := sort.Search(len(ranking), func(i int) bool { return ranking[i].speed < one.speed })
			ranking = append(ranking, arrival{})
			copy(ranking[at+1:], ranking[at:])
			ranking[at] = one
		}
		if len(ranking) > 1000 {
			ranking = ranking[:1000]
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	fmt.Fprintf(os.Stderr, "%d ranked, first is %v\n", len(ranking), ranking[:1])
	out, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": culprit})
	if err := os.WriteFile("@{report}", out, 0o644); err != nil {
		log.Fatal(err)
	}
}
