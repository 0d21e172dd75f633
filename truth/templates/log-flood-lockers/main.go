// Finds a door of a bank of lockers for a parcel: each door's controller is asked for its state, by frames of its bus.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"os"
	"sync"
)

const (
	trace = iota
	info
	warn
)

var levels = map[string]int{"TRACE": trace, "INFO": info, "WARN": warn}

type journal struct {
	*log.Logger
	level int
}

func (j *journal) at(level int, text string, rest ...any) {
	if level >= j.level {
		j.Printf([]string{"TRACE", "INFO ", "WARN "}[level]+" bus "+text, rest...)
	}
}

type door struct {
	number, turns int
}

func (d *door) answer(frame []byte) []byte {
	d.turns++
	body := make([]byte, @{frame})
	copy(body, []byte{byte(d.number), byte(d.turns), frame[2], byte((d.turns*7 + d.number) % 5)})
	for i := 4; i < len(body); i++ {
		body[i] = byte(i*d.number + d.turns)
	}
	return body
}

func crc(frame []byte) uint16 {
	total := uint16(0xFFFF)
	for _, c := range frame {
		total ^= uint16(c)
		for bit := 0; bit < 8; bit++ {
			if total&1 != 0 {
				total = total>>1 ^ 0xA001
			} else {
				total >>= 1
			}
		}
	}
	return total
}

type bus struct {
	hold    sync.Mutex
	doors   []*door
	journal *journal
}

func (b *bus) @{fnCamel}(way string, number int, frame []byte) {
	if b.journal.level > trace {
		return
	}
	b.journal.at(trace, "%s door %d %d bytes", way, number, len(frame))
	for at := 0; at < len(frame); at += 16 {
		part := frame[at:min(at+16, len(frame))]
		shown := make([]byte, len(part))
		for i, c := range part {
			shown[i] = '.'
			if c >= 32 && c < 127 {
				shown[i] = c
			}
		}
		b.journal.at(trace, "%s %04x  % x  |%s|", way, at, part, shown)
	}
}

func (b *bus) ask(d *door, order int) ([]byte, uint16) {
	frame := binary.BigEndian.AppendUint32([]byte{byte(d.number), 0x41, byte(order)}, uint32(order))
	b.@{fnCamel}("->", d.number, frame)
	answer := d.answer(frame)
	b.@{fnCamel}("<-", d.number, answer)
	return answer, crc(answer)
}

func (b *bus) free(order int) int {
	b.hold.Lock()
	defer b.hold.Unlock()
	best, found := 1<<30, 0
	for _, d := range b.doors {
		answer, check := b.ask(d, order)
		if cost := int(answer[3])<<16 | int(check); cost < best {
			best, found = cost, d.number
		}
	}
	return found
}

func serve(b *bus, line net.Conn) {
	defer line.Close()
	asked := bufio.NewScanner(line)
	for asked.Scan() {
		var what string
		var order int
		fmt.Sscan(asked.Text(), &what, &order)
		found := b.free(order)
		b.journal.at(info, "order %d gets door %d for %s", order, found, line.RemoteAddr())
		fmt.Fprintf(line, "door %d\n", found)
	}
}

func main() {
	file, err := os.OpenFile("@{work}/@{log}", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	b := &bus{journal: &journal{log.New(file, "", log.LstdFlags|log.Lmicroseconds), levels["@{level}"]}}
	for number := 1; number <= @{doors}; number++ {
		b.doors = append(b.doors, &door{number: number})
	}
	entry, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := entry.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(b, line)
	}
}
