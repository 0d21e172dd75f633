// The scoreboard of a pageant: asks the tally office for marks and keeps the ranking.
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

type phone struct {
	conn net.Conn
	in   *bufio.Reader
	used int
}

type pool struct {
	sync.Mutex
	free  []*phone
	spent map[*phone]time.Time
}

func (p *pool) take() (*phone, error) {
	p.Lock()
	defer p.Unlock()
	if n := len(p.free); n > 0 {
		one := p.free[n-1]
		p.free = p.free[:n-1]
		return one, nil
	}
	conn, err := net.DialTimeout("tcp", "127.0.0.1:@{port}", 3*time.Second)
	if err != nil {
		return nil, err
	}
	return &phone{conn: conn, in: bufio.NewReader(conn)}, nil
}

//go:noinline
func (p *pool) @{fnCamel}(one *phone) {
	switch "@{spent}" {
	case "close":
		one.conn.Close()
	default:
		p.spent[one] = time.Now()
	}
}

func (p *pool) give(one *phone, over bool) {
	p.Lock()
	defer p.Unlock()
	if over {
		p.@{fnCamel}(one)
	} else {
		p.free = append(p.free, one)
	}
}

func (p *pool) sweep() {
	for range time.Tick(time.Duration(@{linger} * 1e9)) {
		p.Lock()
		for one := range p.spent {
			one.conn.Close()
			delete(p.spent, one)
		}
		p.Unlock()
	}
}

type board struct {
	sync.Mutex
	points map[int]int
	order  []int
}

func (b *board) add(act, mark int) {
	b.Lock()
	defer b.Unlock()
	if _, known := b.points[act]; !known {
		b.order = append(b.order, act)
	}
	b.points[act] += mark
	sort.Slice(b.order, func(i, j int) bool { return b.points[b.order[i]] > b.points[b.order[j]] })
}

func main() {
	lines := &pool{spent: map[*phone]time.Time{}}
	if "@{spent}" == "sweep" {
		go lines.sweep()
	}
	ranking := &board{points: map[int]int{}}
	var all sync.WaitGroup
	var lock sync.Mutex
	units, busy, began := 0, 0.0, time.Now()
	for juror := 0; juror < @{lines}; juror++ {
		all.Add(1)
		go func(juror int) {
			defer all.Done()
			for act := 0; time.Since(began).Seconds() < @{seconds}; act++ {
				start := time.Now()
				one, err := lines.take()
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Fprintf(one.conn, "mark %d %d\n", juror, act%40)
				text, err := one.in.ReadString('\n')
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mark := 0
				fmt.Sscan(text, &mark)
				ranking.add(act%40, mark)
				lines.give(one, strings.HasSuffix(text, "bye\n"))
				lock.Lock()
				units++
				busy += time.Since(start).Seconds()
				lock.Unlock()
				time.Sleep(time.Until(began.Add(time.Duration(float64((act+1)*@{lines}) / @{rate} * 1e9))))
			}
		}(juror)
	}
	all.Wait()
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy})
	os.WriteFile("@{report}", text, 0o644)
}
