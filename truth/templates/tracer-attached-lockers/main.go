// Gives the lockers of a station to travellers: which are free is in a file that the doors write too.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand"
	"os"
	"time"
)

const block = 4096

type station struct {
	index   *os.File
	blocks  int64
	journal *bufio.Writer
	page    [block]byte
}

func open(name string) (*station, error) {
	index, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	info, err := index.Stat()
	if err != nil {
		return nil, err
	}
	journal, err := os.Create("@{work}/@{journal}")
	if err != nil {
		return nil, err
	}
	return &station{index: index, blocks: info.Size() / block, journal: bufio.NewWriter(journal)}, nil
}

func (s *station) fit(size int) int {
	best, least := 0, 256
	for turn := 0; turn < @{effort}; turn++ {
		for i, room := range s.page {
			if over := int(room) - (size+turn)&0xff; over >= 0 && over < least {
				best, least = i, over
			}
		}
	}
	return best
}

// Looks at places near the track first, then farther away.
//
//go:noinline
func (s *station) @{fnCamel}(luggage int) (int, error) {
	chance := rand.New(rand.NewSource(int64(luggage)))
	sum := 0
	for i := 0; i < @{reads}; i++ {
		if _, err := s.index.ReadAt(s.page[:], chance.Int63n(s.blocks)*block); err != nil {
			return 0, err
		}
		sum += s.fit(40 + luggage*13%150)
	}
	return sum % 1000, nil
}

func (s *station) take(luggage int) error {
	locker, err := s.@{fnCamel}(luggage)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.journal, "%s luggage %d is in %d\n", time.Now().Format(time.RFC3339), luggage, locker)
	return s.journal.Flush()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func main() {
	s, err := open("@{work}/@{index}")
	if err != nil {
		log.Fatal(err)
	}
	os.WriteFile("@{work}/lockers.tmp", []byte(fmt.Sprint(os.Getpid())), 0o644)
	os.Rename("@{work}/lockers.tmp", "@{work}/lockers.pid")
	travellers := make(chan int)
	go func() {
		for number, due := 0, time.Now(); ; number++ {
			due = due.Add(seconds(1.0 / @{rate}))
			if time.Until(due) < 0 {
				due = time.Now()
			}
			time.Sleep(time.Until(due))
			travellers <- number
		}
	}()
	units, busy := 0, time.Duration(0)
	for end := time.Now().Add(seconds(@{seconds})); time.Now().Before(end); units++ {
		luggage := <-travellers
		start := time.Now()
		if err := s.take(luggage); err != nil {
			log.Fatal(err)
		}
		busy += time.Since(start)
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f}`, units, busy.Seconds())), 0o644)
}
