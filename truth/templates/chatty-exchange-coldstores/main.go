// Keeps the chambers of a cold store at their degrees: reads the probes, sets the valves, and keeps a journal of both.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	probes = @{probes}
	valves = @{valves}
)

type line struct {
	conn   net.Conn
	in     *bufio.Reader
	number uint16
	waited time.Duration
}

func (l *line) exchange(chamber, function byte, words ...uint16) ([]byte, error) {
	start := time.Now()
	defer func() { l.waited += time.Since(start) }()
	l.number++
	var body []byte
	for i, word := range words {
		if function == 16 && i == 2 {
			body = append(body, byte(2*len(words[2:])))
		}
		body = binary.BigEndian.AppendUint16(body, word)
	}
	frame := binary.BigEndian.AppendUint16(nil, l.number)
	frame = binary.BigEndian.AppendUint16(frame, 0)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(body)+2))
	frame = append(append(frame, chamber, function), body...)
	if _, err := l.conn.Write(frame); err != nil {
		return nil, err
	}
	var head [8]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint16(head[4:])-2)
	if _, err := io.ReadFull(l.in, answer); err != nil {
		return nil, err
	}
	if head[7] != function {
		return nil, fmt.Errorf("the controller answers %d to %d", head[7], function)
	}
	return answer, nil
}

//go:noinline
func @{fn}(l *line, chamber byte) ([]uint16, error) {
	var degrees []uint16
	step := 1
	if @{block} == 1 {
		step = probes
	}
	for probe := 0; probe < probes; probe += step {
		answer, err := l.exchange(chamber, 3, uint16(100+probe), uint16(step))
		if err != nil {
			return nil, err
		}
		for i := 1; i+1 < len(answer); i += 2 {
			degrees = append(degrees, binary.BigEndian.Uint16(answer[i:]))
		}
	}
	return degrees, nil
}

//go:noinline
func @{fn2}(l *line, chamber byte, openings []uint16) error {
	if @{block} == 1 {
		_, err := l.exchange(chamber, 16, append([]uint16{400, valves}, openings...)...)
		return err
	}
	for valve, opening := range openings {
		if _, err := l.exchange(chamber, 6, uint16(400+valve), opening); err != nil {
			return err
		}
	}
	return nil
}

// What a chamber was like lately.
type past struct{ lately [][]uint16 }

func (p *past) openings(degrees []uint16) []uint16 {
	p.lately = append(p.lately, degrees)
	if len(p.lately) > @{rounds}*10 {
		p.lately = p.lately[1:]
	}
	middle := make([]float64, probes)
	for _, one := range p.lately {
		for i, value := range one {
			middle[i] += float64(value) / float64(len(p.lately))
		}
	}
	openings := make([]uint16, valves)
	for valve := range openings {
		sum, many := 0.0, 0.0
		for i := valve % probes; i < probes; i += valves {
			sum += middle[i] + 3*(float64(degrees[i])-middle[i])
			many++
		}
		openings[valve] = uint16(min(1000, max(0, 500+(sum/many-2500)/2)))
	}
	return openings
}

func run() error {
	conn, err := net.Dial("tcp", "127.0.0.1:@{controller}")
	if err != nil {
		return err
	}
	defer conn.Close()
	l := &line{conn: conn, in: bufio.NewReader(conn)}
	chambers := make([]past, @{chambers})
	var journal bytes.Buffer
	var busy time.Duration
	units := 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		number := units % len(chambers)
		degrees, err := @{fn}(l, byte(number+1))
		if err != nil {
			return err
		}
		openings := chambers[number].openings(degrees)
		if err := @{fn2}(l, byte(number+1), openings); err != nil {
			return err
		}
		fmt.Fprintf(&journal, "%d;%d;%d\n", number+1, degrees, openings)
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*float64(time.Second)) - time.Since(began))
	}
	if err := os.WriteFile("@{work}/chambers.csv", journal.Bytes(), 0o644); err != nil {
		return err
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), l.waited.Seconds())
	return os.WriteFile("@{report}", []byte(report), 0o644)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
