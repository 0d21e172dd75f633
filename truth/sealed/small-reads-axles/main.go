// Tells how busy the segments of a railway were, and where a train was counted, from the logs of the axle counters.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
)

const size = @{size}

type counting struct {
	time    uint32
	segment uint16
	axles   uint16
	speed   uint32
}

func decode(raw []byte) counting {
	return counting{
		time:    binary.LittleEndian.Uint32(raw),
		segment: binary.LittleEndian.Uint16(raw[4:]) % @{segments},
		axles:   binary.LittleEndian.Uint16(raw[6:]) % 400,
		speed:   binary.LittleEndian.Uint32(raw[8:]) % 200,
	}
}

type busy struct {
	trains, axles, fastest int
	hours                  [24]int
}

func (b *busy) add(c counting) {
	b.trains++
	b.axles += int(c.axles)
	b.fastest = max(b.fastest, int(c.speed))
	b.hours[c.time/3600%24] += int(c.axles)
}

func open(number int) (*os.File, error) {
	return os.Open(fmt.Sprintf("@{work}/@{days}/%04d.axl", number%@{season}))
}

//go:noinline
func @{fn}(segment int) (busy, error) {
	var b busy
	file, err := open(segment)
	if err != nil {
		return b, err
	}
	defer file.Close()
	var in io.Reader = file
	if @{ahead} == 1 {
		in = bufio.NewReaderSize(file, 1<<17)
	}
	var raw [size]byte
	for {
		if _, err := io.ReadFull(in, raw[:]); errors.Is(err, io.EOF) {
			return b, nil
		} else if err != nil {
			return b, err
		}
		if c := decode(raw[:]); int(c.segment) == segment%@{segments} {
			b.add(c)
		}
	}
}

// A train leaves its countings all over the log.
func follow(train int) (busy, error) {
	var b busy
	file, err := open(train)
	if err != nil {
		return b, err
	}
	defer file.Close()
	var raw [size]byte
	for i := 0; i < 12; i++ {
		place := int64(train*7919+i*104729) % @{countings}
		if _, err := file.ReadAt(raw[:], place*size); err != nil {
			return b, err
		}
		b.add(decode(raw[:]))
	}
	return b, nil
}

func serve(desk net.Conn) {
	defer desk.Close()
	asks := bufio.NewScanner(desk)
	for asks.Scan() {
		var number int
		if _, err := fmt.Sscanf(asks.Text(), "segment %d", &number); err != nil {
			return
		}
		about := follow
		if @{whole} == 1 {
			about = @{fn}
		}
		b, err := about(number)
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := fmt.Fprintf(desk, "%d %d %d %d %v\n", number, b.trains, b.axles, b.fastest, b.hours); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		desk, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(desk)
	}
}
