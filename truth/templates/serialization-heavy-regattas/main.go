// A race office: one goroutine reads the crossings of the marks, another keeps the race and brings the standby up to date.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

type Boat struct {
	Number int    `xml:"number,attr"`
	Sail   string `xml:"sail"`
	Club   string `xml:"club"`
	Laps   int    `xml:"laps"`
	Mark   int    `xml:"mark"`
	Last   int    `xml:"last"`
	Times  []int  `xml:"times>time"`
}

type Fleet struct {
	XMLName xml.Name `xml:"fleet"`
	Boats   []*Boat  `xml:"boat"`
}

type crossing struct{ boat, mark, at int }

//go:noinline
func @{fnCamel}(fleet *Fleet) ([]byte, error) {
	if "@{format}" != "packed" {
		return xml.MarshalIndent(fleet, "", "  ")
	}
	packed := make([]byte, 0, len(fleet.Boats)*(16+4*@{laps}))
	for _, boat := range fleet.Boats {
		for _, field := range [...]int{boat.Number, boat.Laps, boat.Mark, boat.Last} {
			packed = binary.BigEndian.AppendUint32(packed, uint32(field))
		}
		for _, lap := range boat.Times {
			packed = binary.BigEndian.AppendUint32(packed, uint32(lap))
		}
	}
	return packed, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func read(from io.Reader, into chan<- crossing) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var c crossing
		if _, err := fmt.Fscan(bytes.NewReader(lines.Bytes()), &c.boat, &c.mark, &c.at); err == nil {
			into <- c
		}
	}
	close(into)
}

func main() {
	marks := must(net.Dial("tcp", "127.0.0.1:@{marks}"))
	standby := must(net.Dial("unix", "@{work}/@{standby}"))
	fleet := &Fleet{}
	for i := 0; i < @{boats}; i++ {
		fleet.Boats = append(fleet.Boats, &Boat{Number: i, Sail: fmt.Sprint("FRA ", 70+i), Club: fmt.Sprint("Club ", i%9), Times: make([]int, @{laps})})
	}
	crossings := make(chan crossing, 16)
	go read(marks, crossings)
	var busy, encoding time.Duration
	units, ack, began := 0, make([]byte, 4), time.Now()
	for c := range crossings {
		start := time.Now()
		boat := fleet.Boats[c.boat]
		boat.Mark, boat.Last = c.mark, c.at
		if c.mark == 0 {
			boat.Times[boat.Laps%@{laps}] = c.at
			boat.Laps++
		}
		before := time.Now()
		state := must(@{fnCamel}(fleet))
		encoding += time.Since(before)
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(units)), uint32(len(state)))
		frame := net.Buffers{head, state}
		must(frame.WriteTo(standby))
		must(io.ReadFull(standby, ack))
		units++
		busy += time.Since(start)
		must(marks.Write([]byte("noted\n")))
		if time.Since(began).Seconds() >= @{seconds} {
			break
		}
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), encoding.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		os.Exit(1)
	}
}
