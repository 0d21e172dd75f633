// A taxi office: some desks, each sends cabs to who calls.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type place struct{ x, y int }

type positions struct {
	line   net.Conn
	number int
}

func dial() *positions {
	line, err := net.Dial("udp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	return &positions{line: line}
}

func (p *positions) ask(word, rest string, patience time.Duration) ([]place, error) {
	p.number++
	fmt.Fprintf(p.line, "%s %d %s", word, p.number, rest)
	p.line.SetReadDeadline(time.Now().Add(patience))
	buffer := make([]byte, 4096)
	for {
		n, err := p.line.Read(buffer)
		if err != nil {
			return nil, err
		}
		words := strings.Fields(string(buffer[:n]))
		if words[0] != strconv.Itoa(p.number) {
			continue
		}
		var found []place
		for i := 1; i+1 < len(words); i += 2 {
			x, _ := strconv.Atoi(words[i])
			y, _ := strconv.Atoi(words[i+1])
			found = append(found, place{x, y})
		}
		return found, nil
	}
}

//go:noinline
func (p *positions) @{fnCamel}(at place) []place {
	cabs, err := p.ask("NEAR", fmt.Sprintf("%d %d", at.x, at.y), 3*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	return cabs
}

var (
	jam      atomic.Int64
	effort   = @{effort}
	perHour  = @{rate} * 3600.0
	patience = time.Duration(effort * float64(time.Millisecond))
)

func far(a, b place) int {
	dx, dy := a.x-b.x, a.y-b.y
	return dx*dx + dy*dy + int(jam.Load())
}

// Which cab, and by what way past the ranks: tried for as long as a caller does not mind.
func choose(cabs []place, at place) int {
	best, end := 1<<30, time.Now().Add(patience)
	for time.Now().Before(end) {
		for i := 0; i < 200; i++ {
			cab, rank := cabs[rand.Intn(len(cabs))], place{rand.Intn(100), rand.Intn(100)}
			best = min(best, far(cab, rank)/3+far(rank, at), far(cab, at))
		}
	}
	return best
}

func main() {
	if @{news} > 0 {
		go func() {
			for town := dial(); ; {
				if news, err := town.ask("NEWS", "", time.Minute); err == nil {
					jam.Store(int64(news[0].x))
				}
			}
		}()
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	units, busy, waited := 0, 0.0, 0.0
	began := time.Now()
	for desk := 0; desk < @{desks}; desk++ {
		group.Add(1)
		go func() {
			defer group.Done()
			service := dial()
			due := began.Add(time.Duration(desk) * 23 * time.Millisecond)
			time.Sleep(time.Until(due))
			for time.Since(began).Seconds() < @{seconds} {
				start := time.Now()
				at := place{rand.Intn(100), rand.Intn(100)}
				cabs := service.@{fnCamel}(at)
				answered := time.Now()
				choose(cabs, at)
				mu.Lock()
				units++
				waited += answered.Sub(start).Seconds()
				busy += time.Since(start).Seconds()
				mu.Unlock()
				due = due.Add(time.Duration(float64(time.Hour) / perHour))
				time.Sleep(time.Until(due))
			}
		}()
	}
	group.Wait()
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": waited})
	os.WriteFile("@{report}", text, 0o644)
}
