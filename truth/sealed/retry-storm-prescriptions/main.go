// Gateway of a chain of pharmacies: the counters ask by lines, the insurers' centre verifies.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"time"
)

// In milliseconds.
var patience, every float64 = @{patience}, @{pulse}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// question is one that the centre has not answered yet.
type question struct {
	frame    []byte
	patience time.Duration
	timer    *time.Timer
	answer   chan string
}

type centre struct {
	line    net.Conn
	writing sync.Mutex
	guard   sync.Mutex
	open    map[uint32]*question
	last    uint32
}

func dialCentre(address string) (*centre, error) {
	line, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &centre{line: line, open: map[uint32]*question{}}
	go c.read()
	return c, nil
}

func (c *centre) read() {
	stream := bufio.NewReader(c.line)
	for {
		var head [8]byte
		if _, err := io.ReadFull(stream, head[:]); err != nil {
			log.Fatal("the centre is gone: ", err)
		}
		text := make([]byte, binary.BigEndian.Uint32(head[:4]))
		if _, err := io.ReadFull(stream, text); err != nil {
			log.Fatal("the centre is gone: ", err)
		}
		number := binary.BigEndian.Uint32(head[4:])
		c.guard.Lock()
		asked := c.open[number]
		delete(c.open, number)
		c.guard.Unlock()
		if asked != nil {
			asked.timer.Stop()
			asked.answer <- string(text)
		}
	}
}

func (c *centre) send(frame []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.line.Write(frame); err != nil {
		log.Fatal("the centre is gone: ", err)
	}
}

//go:noinline
func (c *centre) @{fnCamel}(number uint32) {
	c.guard.Lock()
	asked := c.open[number]
	if asked != nil {
		asked.patience = time.Duration(float64(asked.patience) * @{growth})
		asked.timer.Reset(asked.patience)
	}
	c.guard.Unlock()
	if asked != nil {
		c.send(asked.frame)
	}
}

func (c *centre) ask(text string) string {
	asked := &question{patience: milliseconds(patience), answer: make(chan string, 1)}
	c.guard.Lock()
	c.last++
	number := c.last
	asked.frame = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(text))), number)
	asked.frame = append(asked.frame, text...)
	asked.timer = time.AfterFunc(asked.patience, func() { c.@{fnCamel}(number) })
	c.open[number] = asked
	c.guard.Unlock()
	c.send(asked.frame)
	return <-asked.answer
}

func prescription(number int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "insured %09d\n", number*7919%999999937)
	for line := 1; line <= @{lines}; line++ {
		fmt.Fprintf(&text, "%d PZN-%08d %d\n", line, number*line*104729%99999989, 1+number*line%3)
	}
	return text.String()
}

func (c *centre) serve(counter net.Conn) {
	defer counter.Close()
	lines := bufio.NewScanner(counter)
	for lines.Scan() {
		number := 0
		fmt.Sscanf(lines.Text(), "verify %d", &number)
		fmt.Fprintf(counter, "%d %s\n", number, c.ask(prescription(number)))
	}
}

func (c *centre) pulse(every time.Duration) {
	for range time.Tick(every) {
		if answer := c.ask("pulse"); answer == "" {
			log.Print("the centre says nothing")
		}
	}
}

func main() {
	c, err := dialCentre("127.0.0.1:@{centre}")
	if err != nil {
		log.Fatal(err)
	}
	if every > 0 {
		go c.pulse(milliseconds(every))
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		counter, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go c.serve(counter)
	}
}
