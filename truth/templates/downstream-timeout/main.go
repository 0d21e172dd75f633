package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"time"
)

// Payments are screened one by one before they are booked; what is not answered in time is booked with a remark.
type screening struct {
	line  net.Conn
	in    *bufio.Reader
	spent time.Duration
}

func (s *screening) @{fnCamel}(payment int) (string, error) {
	began := time.Now()
	defer func() { s.spent += time.Since(began) }()
	if s.line == nil {
		line, err := net.Dial("tcp", "127.0.0.1:@{back}")
		if err != nil {
			return "", err
		}
		s.line, s.in = line, bufio.NewReader(line)
	}
	s.line.SetDeadline(time.Now().Add(@{limit} * time.Millisecond))
	fmt.Fprintf(s.line, "screen %d amount=%d\n", payment, payment%900)
	verdict, err := s.in.ReadString('\n')
	if err != nil {
		s.line.Close()
		s.line = nil
	}
	return verdict, err
}

func subscribe() {
	line, err := net.Dial("tcp", "127.0.0.1:@{back}")
	if err != nil {
		return
	}
	in := bufio.NewReader(line)
	for err == nil {
		fmt.Fprintf(line, "watch %d\n", @{limit})
		_, err = in.ReadString('\n')
	}
}

func main() {
	payments := make(chan int)
	booked := make(chan string)
	lists := &screening{}
	if @{hold} == 1 {
		go subscribe()
	}
	go func() {
		for payment := range payments {
			verdict, err := lists.@{fnCamel}(payment)
			if err != nil {
				verdict = "not screened"
			}
			sum := fnv.New64()
			for i := 0; i < @{rounds}; i++ {
				sum.Write([]byte(verdict))
			}
			booked <- fmt.Sprint(payment, sum.Sum64())
		}
	}()
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		payments <- units
		<-booked
		units++
		busy += time.Since(start)
		due := began.Add(time.Duration(float64(units) / @{pace} * 1e9))
		time.Sleep(time.Until(due))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), lists.spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
