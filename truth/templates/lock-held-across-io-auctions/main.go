// A sale of stamps: takes bids by lines, and has the notary take down how it stands.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var countries = []string{"Baden", "Thurn und Taxis", "Hawaii", "Mauritius", "Helgoland", "Saxony"}

type lot struct {
	title  string
	bid    int
	bidder uint64
	bids   int
}

type sale struct {
	@{lock} sync.Mutex
	lots  []lot
	taken int

	protocol *os.File
}

func open(path string) (*sale, error) {
	protocol, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	s := &sale{protocol: protocol}
	for n := 0; n < @{lots}; n++ {
		title := fmt.Sprintf("%s %d, %d on a sheet", countries[n%len(countries)], 1850+n*7%60, 1+n%40)
		s.lots = append(s.lots, lot{title: title, bid: 20 + n*31%600})
	}
	return s, nil
}

func step(bid int) int {
	switch {
	case bid < 100:
		return 5
	case bid < 500:
		return 20
	case bid < 2000:
		return 50
	}
	return 200
}

func (s *sale) bid(number int, bidder uint64) (int, int) {
	s.@{lock}.Lock()
	defer s.@{lock}.Unlock()
	one := &s.lots[number%len(s.lots)]
	one.bid += step(one.bid)
	one.bidder = bidder
	one.bids++
	s.taken++
	return one.bid, one.bids
}

func (s *sale) text() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%d bids taken\n", s.taken)
	for n := range s.lots {
		one := &s.lots[n]
		fmt.Fprintf(&text, "lot %05d %-38s %8d by %016x\n", n, one.title, one.bid, one.bidder)
	}
	return text.Bytes()
}

func (s *sale) @{fnCamel}() error {
	s.@{lock}.Lock()
	text := s.text()
	if @{inside} == 1 {
		_, err := s.protocol.Write(text)
		s.@{lock}.Unlock()
		return err
	}
	s.@{lock}.Unlock()
	_, err := s.protocol.Write(text)
	return err
}

// By what the house knows a bidder.
func paddle(name string) uint64 {
	known := fnv.New64a()
	for round := 0; round < @{rounds}*400; round++ {
		known.Write([]byte(name))
	}
	return known.Sum64()
}

func (s *sale) serve(bidder net.Conn) {
	defer bidder.Close()
	for lines := bufio.NewScanner(bidder); lines.Scan(); {
		_, word, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.Atoi(word)
		if err != nil {
			return
		}
		bid, count := s.bid(number*37, paddle(lines.Text()))
		fmt.Fprintf(bidder, "taken %d the %dth\n", bid, count)
	}
}

func main() {
	s, err := open("@{work}/@{pipe}")
	if err != nil {
		log.Fatal(err)
	}
	pause := @{pause}
	go func() {
		for {
			time.Sleep(time.Duration(pause * float64(time.Millisecond)))
			if err := s.@{fnCamel}(); err != nil {
				log.Print("protocol: ", err)
			}
		}
	}()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		bidder, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go s.serve(bidder)
	}
}
