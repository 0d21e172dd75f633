// Brings what the scanners of a post office read to the archive: pages are cleaned, packed into a document, sent, and confirmed.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"
)

const size = @{size}

type archive struct {
	line *net.TCPConn
	// The time that documents were under way.
	spent time.Duration
}

// Of a line that is cut not much is to be lost: documents that are not confirmed are sent anew.
func @{fnCamel}() (*archive, error) {
	line, err := net.Dial("tcp", "10.@{net}.@{sub}.2:@{port}")
	if err != nil {
		return nil, err
	}
	tcp := line.(*net.TCPConn)
	if @{buffer} > 0 {
		if err := tcp.SetWriteBuffer(@{buffer}); err != nil {
			return nil, err
		}
	}
	return &archive{line: tcp}, nil
}

func (a *archive) put(number int, document []byte) error {
	start := time.Now()
	message := make([]byte, 8, 8+len(document))
	binary.BigEndian.PutUint32(message, uint32(number))
	binary.BigEndian.PutUint32(message[4:], uint32(len(document)))
	if _, err := a.line.Write(append(message, document...)); err != nil {
		return err
	}
	var answer [8]byte
	if _, err := io.ReadFull(a.line, answer[:]); err != nil {
		return err
	}
	a.spent += time.Since(start)
	if binary.BigEndian.Uint32(answer[4:]) != crc32.ChecksumIEEE(document) {
		return fmt.Errorf("document %d is not what was sent", number)
	}
	return nil
}

type scanner struct {
	number, units int
	busy          time.Duration
	page          [size]byte
}

func (s *scanner) scan(document int) {
	seed := uint32(document*2654435761 + s.number)
	for i := range s.page {
		seed = seed*1664525 + 1013904223
		s.page[i] = byte(seed >> 24)
	}
}

// Dust goes: a point is as those around it.
func (s *scanner) clean() {
	for pass := 0; pass < @{effort}; pass++ {
		for i := 1; i+1 < len(s.page); i++ {
			s.page[i] = byte((int(s.page[i-1]) + 2*int(s.page[i]) + int(s.page[i+1])) / 4)
		}
	}
}

func (s *scanner) work(a *archive, end time.Time, journal *log.Logger) {
	rate := @{rate}
	due := time.Now()
	for time.Now().Before(end) {
		due = due.Add(time.Duration(1e9 / rate))
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		start := time.Now()
		document := s.number*100000 + s.units
		s.scan(document)
		s.clean()
		if err := a.put(document, s.page[:]); err != nil {
			log.Fatal(err)
		}
		s.busy += time.Since(start)
		s.units++
		journal.Printf("scanner %d: document %d", s.number, document)
	}
}

func main() {
	out, err := os.Create("@{work}/scanners.log")
	if err != nil {
		log.Fatal(err)
	}
	journal := log.New(out, "", log.LstdFlags)
	length := @{seconds}
	end := time.Now().Add(time.Duration(length * 1e9))
	scanners, archives := make([]scanner, @{scanners}), make([]*archive, @{scanners})
	var all sync.WaitGroup
	for i := range scanners {
		scanners[i].number = i
		if archives[i], err = @{fnCamel}(); err != nil {
			log.Fatal(err)
		}
		all.Add(1)
		go func() {
			defer all.Done()
			scanners[i].work(archives[i], end, journal)
		}()
	}
	all.Wait()
	units, busy, spent := 0, 0.0, 0.0
	for i := range scanners {
		units, busy, spent = units+scanners[i].units, busy+scanners[i].busy.Seconds(), spent+archives[i].spent.Seconds()
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, spent)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
