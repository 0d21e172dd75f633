// The desk of a blood bank: wards ask for units, it says from which rack they come.
package main

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"log"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

var groups = []string{"O-", "O+", "A-", "A+", "B-", "B+", "AB-", "AB+"}

// Whom a group may give to: a patient's group, and those that suit, the dearest last.
var suits = map[string][]string{
	"O-": {"O-"}, "O+": {"O+", "O-"}, "A-": {"A-", "O-"}, "A+": {"A+", "A-", "O+", "O-"},
	"B-": {"B-", "O-"}, "B+": {"B+", "B-", "O+", "O-"}, "AB-": {"AB-", "A-", "B-", "O-"},
	"AB+": {"AB+", "AB-", "A+", "B+", "A-", "B-", "O+", "O-"},
}

type shelf struct {
	units, oldest int
}

// What lies in the cold rooms.
type stock struct {
	sync.Mutex
	shelves map[string]shelf
	given   int
}

type laboratory struct {
	line net.Conn
	said *bufio.Reader
}

func dial(address string) (*laboratory, error) {
	line, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &laboratory{line, bufio.NewReader(line)}, nil
}

func (l *laboratory) released(group string) (shelf, error) {
	if _, err := fmt.Fprintf(l.line, "group %s\n", group); err != nil {
		return shelf{}, err
	}
	text, err := l.said.ReadString('\n')
	if err != nil {
		return shelf{}, err
	}
	words := strings.Fields(text)
	units, _ := strconv.Atoi(words[1])
	oldest, _ := strconv.Atoi(words[2])
	return shelf{units, oldest}, nil
}

func (s *stock) @{fnCamel}(lab *laboratory) error {
	fresh := make(map[string]shelf, len(groups))
	if "@{order}" == "first" {
		s.Lock()
		defer s.Unlock()
	}
	for _, group := range groups {
		one, err := lab.released(group)
		if err != nil {
			return err
		}
		fresh[group] = one
	}
	if "@{order}" != "first" {
		s.Lock()
		defer s.Unlock()
	}
	s.shelves = fresh
	return nil
}

func (s *stock) follow(lab *laboratory) {
	for rounds := 1; ; rounds++ {
		if err := s.@{fnCamel}(lab); err != nil {
			log.Fatal("laboratory: ", err)
		}
		if rounds%100 == 0 {
			log.Printf("%d rounds with the laboratory", rounds)
		}
		time.Sleep(time.Duration(@{pause} * float64(time.Millisecond)))
	}
}

// Takes units of the group that is worth least, of those that suit.
func (s *stock) take(patient string, units int) (string, int) {
	s.Lock()
	defer s.Unlock()
	for _, group := range suits[patient] {
		if have := s.shelves[group]; have.units >= units {
			have.units -= units
			s.shelves[group] = have
			s.given += units
			return group, s.given
		}
	}
	return "none", s.given
}

// The number on the bag: its check digit goes over rack and drawer.
func label(group string, number int) string {
	sum := uint32(number)
	for rack := 0; rack < @{racks}; rack++ {
		sum = crc32.Update(sum, crc32.IEEETable, []byte(fmt.Sprintf("%s/%d/%d", group, rack, number)))
	}
	return fmt.Sprintf("%d-%08x", number%@{racks}, sum)
}

func serve(ward net.Conn, s *stock) {
	defer ward.Close()
	asked := bufio.NewScanner(ward)
	for asked.Scan() {
		number, err := strconv.Atoi(strings.TrimPrefix(asked.Text(), "need "))
		if err != nil {
			fmt.Fprintln(ward, "what?")
			continue
		}
		group, given := s.take(groups[number%len(groups)], 1+number%3)
		fmt.Fprintf(ward, "give %s rack %s, %d in all\n", group, label(group, number), given)
	}
}

func main() {
	s := &stock{shelves: map[string]shelf{}}
	lab, err := dial("127.0.0.1:@{lab}")
	if err != nil {
		log.Fatal(err)
	}
	if err := s.@{fnCamel}(lab); err != nil {
		log.Fatal(err)
	}
	go s.follow(lab)
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		ward, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(ward, s)
	}
}
