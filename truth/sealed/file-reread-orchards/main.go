// Warns orchards of frost: workers look up the station that speaks for an orchard.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
)

const (
	table  = "@{work}/@{folder}/@{stations}"
	record = 64
	basin  = 40
)

type station struct {
	number        uint32
	east, north   int32
	warmth        int32
}

type stations struct{ text []byte }

func (s stations) at(i int) station {
	line := s.text[i%(len(s.text)/record)*record:]
	le := binary.LittleEndian
	return station{le.Uint32(line), int32(le.Uint32(line[4:])), int32(le.Uint32(line[8:])), int32(le.Uint32(line[12:]))}
}

type question struct {
	orchard int
	answer  chan string
}

// knower answers questions, with a room of its own for the table.
type knower struct {
	room []byte
	held *stations
}

func (k *knower) @{fnCamel}() (stations, error) {
	if k.held != nil {
		return *k.held, nil
	}
	file, err := os.Open(table)
	if err != nil {
		return stations{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return stations{}, err
	}
	if int64(cap(k.room)) < info.Size() {
		k.room = make([]byte, info.Size())
	}
	k.room = k.room[:info.Size()]
	if _, err := io.ReadFull(file, k.room); err != nil {
		return stations{}, err
	}
	s := stations{k.room}
	if @{holds} == 1 {
		k.held = &s
	}
	return s, nil
}

func (k *knower) look(orchard int) (string, error) {
	s, err := k.@{fnCamel}()
	if err != nil {
		return "", err
	}
	x, y := int32(orchard*7919%360000), int32(orchard*104729%180000)
	best, least := station{}, int32(1<<30)
	for i := 0; i < basin; i++ {
		one := s.at(orchard%251*basin + i)
		if far := max(one.east-x, x-one.east) + max(one.north-y, y-one.north); far < least {
			best, least = one, far
		}
	}
	night := best.warmth - 40 - least/9000
	word := "mild"
	if night < 0 {
		word = "frost"
	}
	return fmt.Sprintf("orchard %d: %s by station %d, %.1f degrees", orchard, word, best.number, float64(night)/10), nil
}

func (k *knower) work(questions <-chan question) {
	for q := range questions {
		told, err := k.look(q.orchard)
		if err != nil {
			log.Print(err)
		}
		q.answer <- told
	}
}

func talk(grower net.Conn, questions chan<- question) {
	defer grower.Close()
	lines := bufio.NewScanner(grower)
	answer := make(chan string, 1)
	for lines.Scan() {
		orchard := 0
		fmt.Sscanf(lines.Text(), "frost %d", &orchard)
		questions <- question{orchard, answer}
		fmt.Fprintln(grower, <-answer)
	}
}

func main() {
	questions := make(chan question)
	for i := 0; i < 2; i++ {
		go (&knower{}).work(questions)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		grower, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go talk(grower, questions)
	}
}
