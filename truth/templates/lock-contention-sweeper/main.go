// Keeps the sessions of a shop: one goroutine for each connection, one that sweeps, one that writes the journal.
package main

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

type session struct {
	basket      string
	seen, worth uint64
}

type part struct {
	@{lock} sync.Mutex
	entries map[int]*session
}

var (
	parts   [@{parts}]part
	journal = make(chan int, 1000)
	expired uint64
)

func partOf(number int) *part { return &parts[number%len(parts)] }

func visit(number int) string {
	number %= @{entries}
	p := partOf(number)
	p.@{lock}.Lock()
	s := p.entries[number]
	s.seen++
	basket := s.basket
	p.@{lock}.Unlock()
	start, size := time.Now(), 0
	var page [400]byte
	for time.Since(start).Seconds() < @{effort}/1000.0 {
		size += copy(page[size%200:], basket)
	}
	journal <- number
	return fmt.Sprintf("page %d\n", size)
}

func serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		_, text, _ := strings.Cut(lines.Text(), " ")
		number, _ := strconv.Atoi(text)
		if _, err := conn.Write([]byte(visit(number))); err != nil {
			return
		}
	}
}

// What is worth keeping depends on the basket and on when it was last seen.
//
//go:noinline
func (p *part) @{fnCamel}(round uint64) {
	p.@{lock}.Lock()
	defer p.@{lock}.Unlock()
	for _, s := range p.entries {
		s.worth = round - s.seen
		for i := 0; i < len(s.basket); i++ {
			s.worth = s.worth*31 + uint64(s.basket[i])
		}
		if s.worth%1009 == 0 {
			expired++
		}
	}
}

func sweep() {
	for round := uint64(1); ; round++ {
		start := time.Now()
		for n := range parts {
			parts[n].@{fnCamel}(round)
		}
		pause := max(time.Since(start).Seconds()*@{rest}, @{least})
		time.Sleep(time.Duration(pause * 1e9))
	}
}

func main() {
	for n := range parts {
		parts[n].entries = make(map[int]*session)
	}
	for number := 0; number < @{entries}; number++ {
		text := fmt.Sprintf("article %d twice, in blue", number*7919%100003)
		partOf(number).entries[number] = &session{basket: text}
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		panic(err)
	}
	go sweep()
	go func() {
		total := 0
		for number := range journal {
			total += number
		}
	}()
	for {
		if conn, err := door.Accept(); err == nil {
			go serve(conn)
		}
	}
}
