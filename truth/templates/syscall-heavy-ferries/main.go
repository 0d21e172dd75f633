// The fare engine of a ferry line: what a booking costs, by the rules of its route.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"time"
)

var kinds = []string{"adult", "child", "senior", "resident", "car", "van", "trailer", "bicycle", "dog", "cabin"}

type metrics struct {
	line   net.Conn
	counts map[string]int
	due    time.Time
	spent  time.Duration
	room   []byte
}

func (m *metrics) count(name string) {
	if "@{send}" == "each" {
		m.room = append(append(append(m.room[:0], "ferry.fares."...), name...), ":1|c"...)
		m.@{fnCamel}(m.room)
		return
	}
	m.counts[name]++
}

//go:noinline
func (m *metrics) @{fnCamel}(text []byte) {
	start := time.Now()
	m.line.Write(text)
	m.spent += time.Since(start)
}

func (m *metrics) tick(now time.Time) {
	if len(m.counts) == 0 || now.Before(m.due) {
		return
	}
	m.due = now.Add(time.Duration(@{period} * float64(time.Second)))
	var text bytes.Buffer
	for name, n := range m.counts {
		fmt.Fprintf(&text, "ferry.fares.%s:%d|c\n", name, n)
		if text.Len() > 1300 {
			m.@{fnCamel}(text.Bytes())
			text.Reset()
		}
	}
	if text.Len() > 0 {
		m.@{fnCamel}(text.Bytes())
	}
	clear(m.counts)
}

type rule struct {
	name  string
	steps []float64
}

func newRule(number int) rule {
	r := rule{name: fmt.Sprintf("rule.%s.%d", kinds[number%len(kinds)], number/len(kinds))}
	for i := 0; i < @{effort}; i++ {
		r.steps = append(r.steps, 0.9+float64((number*7+i*13)%20)/100)
	}
	return r
}

func (r *rule) apply(price, season float64) float64 {
	for _, step := range r.steps {
		price = price*step + season
	}
	return min(max(price, 1), 900)
}

type booking struct {
	base, season float64
	sailing      int
}

type fares struct {
	metrics *metrics
	rules   []rule
	taken   map[int]float64
}

func (f *fares) price(b booking) {
	total := 0.0
	for i := range f.rules {
		total += f.rules[i].apply(b.base, b.season) / float64(len(f.rules))
		if "@{detail}" == "rule" {
			f.metrics.count(f.rules[i].name)
		}
	}
	if "@{detail}" == "booking" {
		f.metrics.count("booking")
	}
	f.taken[b.sailing] += total
}

func main() {
	line, err := net.Dial("udp", "127.0.0.1:@{stats}")
	if err != nil {
		panic(err)
	}
	m := &metrics{line: line, counts: map[string]int{}}
	f := &fares{metrics: m, taken: map[int]float64{}}
	for i := 0; i < @{rules}; i++ {
		f.rules = append(f.rules, newRule(i))
	}
	rate := @{rate}
	pace := time.Duration(1e9 / rate)
	began := time.Now()
	due, end := began, began.Add(time.Duration(@{seconds}*float64(time.Second)))
	var busy time.Duration
	units := 0
	for number := 1; ; number++ {
		start := time.Now()
		if !start.Before(end) {
			break
		}
		f.price(booking{20 + float64(number%37), 0.2 + float64(number%5)/10, number % 48})
		m.tick(start)
		now := time.Now()
		busy += now.Sub(start)
		units++
		due = due.Add(pace)
		if due.Before(now) {
			due = now
		}
		if wait := due.Sub(now); wait > 500*time.Microsecond {
			time.Sleep(wait)
		}
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), m.spent.Seconds())), 0o644)
}
