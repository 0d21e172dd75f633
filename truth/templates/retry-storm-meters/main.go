// The exchange of the taxis: for each ride the authority says what it may cost. A goroutine for each taxi, with a socket of its own.
package main

import (
	"errors"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

type taxi struct {
	number      int
	chance      *rand.Rand
	line        net.Conn
	units       int
	busy, again time.Duration
}

// What the ride may cost, in cents.
//
//go:noinline
func (t *taxi) @{fnCamel}(ride int, question []byte) (int, error) {
	var repeated time.Time
	text := make([]byte, 256)
	for patience := float64(@{patience}); ; patience *= @{growth} {
		if _, err := t.line.Write(question); err != nil {
			time.Sleep(20 * time.Millisecond)
		}
		t.line.SetReadDeadline(time.Now().Add(time.Duration(patience * float64(time.Millisecond))))
		for {
			n, err := t.line.Read(text)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return 0, err
			}
			var number, of, cents int
			if _, err := fmt.Sscan(string(text[:n]), &number, &of, &cents); err != nil || number != t.number || of != ride {
				continue
			}
			if !repeated.IsZero() {
				t.again += time.Since(repeated)
			}
			return cents, nil
		}
		if repeated.IsZero() {
			repeated = time.Now()
		}
	}
}

func (t *taxi) work() {
	begin, pause := time.Now(), float64(time.Second)/@{rate}
	due := begin
	for ride := 1; time.Since(begin).Seconds() < @{seconds}; ride++ {
		question := fmt.Sprintf("%d %d %d %d %s", t.number, ride, t.chance.Intn(@{zones}), t.chance.Intn(@{zones}), strings.Repeat("r", @{text}))
		for asked := 0; asked < @{asked}; asked++ {
			start := time.Now()
			if _, err := t.@{fnCamel}(ride, []byte(question)); err != nil {
				log.Fatal(err)
			}
			t.busy += time.Since(start)
			t.units++
			if due = due.Add(time.Duration(pause)); due.Before(time.Now()) {
				due = time.Now()
			}
			time.Sleep(time.Until(due))
		}
	}
}

func main() {
	var all sync.WaitGroup
	taxis := make([]*taxi, @{taxis})
	for i := range taxis {
		line, err := net.Dial("udp", "127.0.0.1:@{port}")
		if err != nil {
			log.Fatal(err)
		}
		taxis[i] = &taxi{number: i + 1, chance: rand.New(rand.NewSource(int64(i))), line: line}
		all.Add(1)
		go func() {
			defer all.Done()
			taxis[i].work()
		}()
	}
	all.Wait()
	units, busy, again := 0, time.Duration(0), time.Duration(0)
	for _, t := range taxis {
		units += t.units
		busy += t.busy
		again += t.again
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), again.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
