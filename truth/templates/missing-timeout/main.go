package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

type line struct {
	sync.Mutex
	conn        net.Conn
	answers     *bufio.Reader
	units       int
	busy, asked float64
}

//go:noinline
func (l *line) @{fnCamel}(text string) (string, error) {
	if l.conn == nil {
		conn, err := net.Dial("tcp", "127.0.0.1:@{port}")
		if err != nil {
			return "", err
		}
		l.conn, l.answers = conn, bufio.NewReader(conn)
	}
	if @{limit} > 0 {
		l.conn.SetDeadline(time.Now().Add(time.Duration(@{limit} * 1e9)))
	}
	fmt.Fprintln(l.conn, text)
	answer, err := l.answers.ReadString('\n')
	if err != nil {
		l.conn.Close()
		l.conn = nil
	}
	return answer, err
}

func (l *line) work() {
	for {
		l.Lock()
		l.asked = now()
		l.Unlock()
		for {
			if _, err := l.@{fnCamel}(fmt.Sprint("quote ", l.units)); err == nil {
				break
			}
		}
		l.Lock()
		l.busy += now() - l.asked
		l.asked = 0
		l.units++
		l.Unlock()
		waitUntil(float64(l.units) / @{rate})
	}
}

func main() {
	lines := make([]line, @{workers})
	for n := range lines {
		go lines[n].work()
	}
	if @{idle} == 1 {
		if console, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			go console.Accept()
		}
	}
	waitUntil(@{seconds})
	units, busy, hanging := 0, 0.0, 0.0
	for n := range lines {
		l := &lines[n]
		l.Lock()
		units += l.units
		busy += l.busy
		if l.asked > 0 {
			hanging += now() - l.asked
		}
		l.Unlock()
	}
	report(units, busy+hanging, hanging)
}
