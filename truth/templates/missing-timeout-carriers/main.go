// Shipping of a spare parts dealer: sorts the parts of an order into parcels, and asks the carriers what these cost.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

var carriers = map[string]int{"swift": @{first}, "meridian": @{second}, "harbour": @{third}}

var seconds = @{limit}

var limit = time.Duration(seconds * float64(time.Second))

type part struct{ grams, litres int }

type offer struct {
	carrier     string
	cents, days int
	ok          bool
}

// A line to a carrier.
type line struct {
	name   string
	port   int
	conn   net.Conn
	reader *bufio.Reader
}

func (l *line) open() error {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", l.port))
	if err == nil {
		l.conn, l.reader = conn, bufio.NewReader(conn)
	}
	return err
}

func (l *line) drop() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

func (l *line) @{fnCamel}(number, grams, zone int) offer {
	if l.conn == nil && l.open() != nil {
		return offer{}
	}
	if limit > 0 {
		l.conn.SetDeadline(time.Now().Add(limit))
	}
	fmt.Fprintf(l.conn, "QUOTE %d %d %d\n", number, grams, zone)
	text, err := l.reader.ReadString('\n')
	if err != nil {
		l.drop()
		return offer{}
	}
	found := offer{carrier: l.name, ok: true}
	var same int
	fmt.Sscan(text, &same, &found.cents, &found.days)
	return found
}

// What all have done, and since when each packer is at an order and waits.
type office struct {
	sync.Mutex
	units         int
	busy, missed  time.Duration
	start, waited map[int]time.Time
	journal       []string
}

func partsOf(number int) []part {
	parts := make([]part, @{items})
	for i := range parts {
		draw := uint32(number*2654435761 + i*40503)
		parts[i] = part{int(30 + draw%2500), int(1 + draw/7%9)}
	}
	return parts
}

// The sorting with the fewest parcels, of some that are tried.
func sorted(parts []part) (parcels, grams int) {
	for turn := 0; turn < 400; turn++ {
		sort.Slice(parts, func(a, b int) bool { return parts[a].grams*(turn+3)%101 < parts[b].grams*(turn+3)%101 })
		var free []int
		grams = 0
		for _, p := range parts {
			grams += p.grams
			i := 0
			for i < len(free) && free[i] < p.litres {
				i++
			}
			if i == len(free) {
				free = append(free, 30)
			}
			free[i] -= p.litres
		}
		if parcels == 0 || len(free) < parcels {
			parcels = len(free)
		}
	}
	return parcels, grams + parcels*180
}

func packer(me int, orders <-chan int, all *office) {
	var lines []*line
	for name, port := range carriers {
		lines = append(lines, &line{name: name, port: port})
	}
	for number := range orders {
		start := time.Now()
		all.Lock()
		all.start[me] = start
		all.Unlock()
		parcels, grams := sorted(partsOf(number))
		offers := make(chan offer, len(lines))
		asked := time.Now()
		all.Lock()
		all.waited[me] = asked
		all.Unlock()
		for _, l := range lines {
			go func(l *line) { offers <- l.@{fnCamel}(number, grams, 1+number%5) }(l)
		}
		best, missing := offer{}, 0
		for range lines {
			one := <-offers
			if !one.ok {
				missing++
			} else if !best.ok || one.cents < best.cents {
				best = one
			}
		}
		all.Lock()
		if missing > 0 {
			all.missed += time.Since(asked)
		}
		delete(all.waited, me)
		delete(all.start, me)
		all.journal = append(all.journal, strings.TrimSpace(fmt.Sprintln(number, parcels, best.carrier, best.cents)))
		if len(all.journal) > 500 {
			all.journal = all.journal[250:]
		}
		all.units++
		all.busy += time.Since(start)
		all.Unlock()
	}
}

// Surcharges that the carrier tells of by itself.
func listen(all *office) {
	news := line{name: "harbour", port: carriers["harbour"]}
	if news.open() != nil {
		return
	}
	fmt.Fprintln(news.conn, "NEWS")
	for {
		text, err := news.reader.ReadString('\n')
		if err != nil {
			return
		}
		all.Lock()
		all.journal = append(all.journal, text)
		all.Unlock()
	}
}

func main() {
	all := &office{start: map[int]time.Time{}, waited: map[int]time.Time{}}
	orders := make(chan int, 100000)
	for me := 0; me < @{packers}; me++ {
		go packer(me, orders, all)
	}
	if @{news} == 1 {
		go listen(all)
	}
	began := time.Now()
	for number := 1; time.Since(began).Seconds() < @{seconds}; number++ {
		orders <- number
		time.Sleep(time.Until(began.Add(time.Duration(float64(number) / @{rate} * float64(time.Second)))))
	}
	all.Lock()
	for _, start := range all.start {
		all.busy += time.Since(start)
	}
	for _, asked := range all.waited {
		all.missed += time.Since(asked)
	}
	text, _ := json.Marshal(map[string]any{"units": all.units, "seconds": all.busy.Seconds(), "culprit": all.missed.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
