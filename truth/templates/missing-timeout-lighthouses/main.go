// Surveys lighthouses: asks each for its lamp and its battery, round by round, and keeps what they say.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

const patience = @{patience} * time.Millisecond

type station struct {
	name, address string
	connection    net.Conn
	in            *bufio.Reader
	given_up      bool
	last          string
}

type survey struct {
	lock    sync.Mutex
	units   int
	busy    time.Duration
	asked   time.Time
	working time.Time
	waited  time.Duration
	lamps   map[string]int
}

func dial(address string) (net.Conn, *bufio.Reader) {
	connection, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	return connection, bufio.NewReader(connection)
}

//go:noinline
func (s *station) @{fnCamel}(question string) (string, error) {
	if patience > 0 {
		s.connection.SetDeadline(time.Now().Add(patience))
	}
	if _, err := fmt.Fprintln(s.connection, question); err != nil {
		return "", err
	}
	return s.in.ReadString('\n')
}

func (v *survey) visit(s *station, round int) {
	if s.given_up {
		return
	}
	v.lock.Lock()
	v.asked = time.Now()
	v.lock.Unlock()
	answer, err := s.@{fnCamel}(fmt.Sprintf("state %s %d", s.name, round))
	v.lock.Lock()
	defer v.lock.Unlock()
	if s.address == "127.0.0.1:@{lost}" {
		v.waited += time.Since(v.asked)
	}
	v.asked = time.Time{}
	if err != nil {
		// The harbour sends a boat.
		fmt.Println(s.name, "does not answer:", err)
		s.given_up = true
		return
	}
	s.last = strings.TrimSpace(answer)
	v.lamps[s.last]++
}

func (v *survey) rounds(stations []*station) {
	began := time.Now()
	for {
		v.lock.Lock()
		v.working = time.Now()
		v.lock.Unlock()
		for _, one := range stations {
			v.visit(one, v.units)
		}
		v.lock.Lock()
		v.units++
		v.busy += time.Since(v.working)
		v.working = time.Time{}
		v.lock.Unlock()
		time.Sleep(time.Until(began.Add(time.Duration(v.units) * time.Second / @{rate})))
	}
}

func main() {
	stations := []*station{{name: "rock", address: "127.0.0.1:@{lost}"}}
	for number := 1; number < @{lights}; number++ {
		stations = append(stations, &station{name: fmt.Sprintf("cape-%d", number), address: "127.0.0.1:@{port}"})
	}
	for _, one := range stations {
		one.connection, one.in = dial(one.address)
	}
	calls, keeper := dial("127.0.0.1:@{port}")
	fmt.Fprintln(calls, "calls")
	go func() {
		text, _ := keeper.ReadString('\n')
		fmt.Println("a call:", text)
	}()
	v := &survey{lamps: map[string]int{}}
	go v.rounds(stations)
	time.Sleep(time.Duration(@{seconds} * 1e9))
	v.lock.Lock()
	if !v.working.IsZero() {
		v.busy += time.Since(v.working)
		v.units++
	}
	if !v.asked.IsZero() {
		v.waited += time.Since(v.asked)
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, v.units, v.busy.Seconds(), v.waited.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
