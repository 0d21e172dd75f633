// Opens a town's floodgates by radio: the nearer mast is asked first, and the farther one if that does not come.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"time"
)

type mast struct {
	address string
	line    net.Conn
	answers *bufio.Reader
	lost    time.Duration
}

//go:noinline
func (m *mast) @{fnCamel}(tries int) bool {
	start := time.Now()
	for i := 0; i < tries && m.line == nil; i++ {
		line, err := net.DialTimeout("tcp", m.address, 2*time.Second)
		if err == nil {
			m.line, m.answers = line, bufio.NewReader(line)
		}
	}
	m.lost += time.Since(start)
	return m.line != nil
}

func main() {
	near, far := &mast{address: "127.0.0.1:@{first}"}, &mast{address: "127.0.0.1:@{second}"}
	units, good, busy, per := 0, 0, time.Duration(0), @{per_s}
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		start := time.Now()
		m := near
		if !near.@{fnCamel}(@{most}) {
			m = far
			if !far.@{fnCamel}(@{most}) {
				log.Fatal("no mast at all")
			}
		}
		fmt.Fprintf(m.line, "gates %d to %d: half open\n", units%60, units%60+@{sirens})
		if text, err := m.answers.ReadString('\n'); err == nil && text == "sent\n" {
			good++
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(time.Duration(1e9 / per))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "good": %d}`, units, busy.Seconds(), near.lost.Seconds(), good)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
