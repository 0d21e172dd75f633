// Shows the discussions of an archive of mailing lists: how long each is, and what it is about.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"log"
	"net"
	"os"
	"strings"
)

const (
	slot    = @{slot_kb} * 1024
	letters = @{letters}
)

type store struct {
	file        *os.File
	slots       int
	discussions int
}

func openStore(path string) (*store, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	state, err := file.Stat()
	if err != nil {
		return nil, err
	}
	slots := int(state.Size()) / slot
	return &store{file, slots, slots / letters}, nil
}

func (s *store) place(discussion, number int) int {
	if "@{lay}" == "together" {
		return (discussion*letters + number) * slot
	}
	return (number*s.discussions + (discussion+number*17)%s.discussions) * slot
}

//go:noinline
func (s *store) @{fnCamel}(place int, room []byte) {
	if _, err := s.file.ReadAt(room, int64(place)); err != nil {
		log.Print("read: ", err)
	}
}

func (s *store) discussion(number int) []byte {
	all := make([]byte, letters*slot)
	if "@{lay}" == "together" {
		s.@{fnCamel}(s.place(number, 0), all)
		return all
	}
	for i := 0; i < letters; i++ {
		s.@{fnCamel}(s.place(number, i), all[i*slot:(i+1)*slot])
	}
	return all
}

func (s *store) day(number int) []byte {
	all := make([]byte, @{page_kb}*1024)
	s.@{fnCamel}(number*len(all)%(s.slots*slot-len(all))&^4095, all)
	return all
}

func digest(all []byte) (lines int, words uint32) {
	for at := 0; at+slot <= len(all); at += slot {
		for i := 0; i < @{rounds}; i++ {
			words = crc32.Update(words, crc32.IEEETable, all[at:at+slot])
		}
		lines += bytes.Count(all[at:at+slot], []byte("\n"))
	}
	return
}

func serve(s *store, line net.Conn) {
	defer line.Close()
	asked := bufio.NewScanner(line)
	for asked.Scan() {
		wanted := 0
		fmt.Sscan(asked.Text()[strings.IndexByte(asked.Text(), ' ')+1:], &wanted)
		var all []byte
		if "@{view}" == "discussion" {
			all = s.discussion(wanted * 2654435761 % s.discussions)
		} else {
			all = s.day(wanted * 2654435761 % 100003)
		}
		lines, words := digest(all)
		fmt.Fprintf(line, "%d letters %d lines %08x\n", len(all)/slot, lines, words)
	}
}

func main() {
	s, err := openStore("@{work}/@{volume}/@{data}")
	if err != nil {
		log.Fatal(err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(s, line)
	}
}
