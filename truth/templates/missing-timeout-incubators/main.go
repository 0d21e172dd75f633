// Watches the incubators of a ward: reads each bed in turn, smooths the values, and keeps the alarms.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"time"
)

const address = "127.0.0.1:@{port}"

type bed struct {
	Temp, Humidity, Spread float64
	Oxygen, Alarms         int
	history                []float64
}

type ward struct {
	sync.Mutex
	beds    map[int]*bed
	units   int
	busy    time.Duration
	reading time.Duration
	asked   time.Time
	began   time.Time
}

type line struct {
	conn net.Conn
	text *bufio.Reader
}

func (l *line) open() error {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		l.conn, l.text = conn, bufio.NewReader(conn)
	}
	return err
}

//go:noinline
func (l *line) @{fn}(number int) (string, error) {
	if @{limit} > 0 {
		l.conn.SetDeadline(time.Now().Add(@{limit} * time.Millisecond))
	}
	if _, err := fmt.Fprintf(l.conn, "read %d\n", number); err != nil {
		return "", err
	}
	return l.text.ReadString('\n')
}

func (b *bed) take(answer string) {
	var number int
	fmt.Sscanf(answer, "bed %d temp %f hum %f spo2 %d", &number, &b.Temp, &b.Humidity, &b.Oxygen)
	b.history = append(b.history, b.Temp)
	if len(b.history) > 60 {
		b.history = b.history[1:]
	}
	mean, spread := 0.0, 0.0
	for _, t := range b.history {
		mean += t / float64(len(b.history))
	}
	for _, t := range b.history {
		spread += (t - mean) * (t - mean)
	}
	b.Spread = math.Sqrt(spread / float64(len(b.history)))
	if b.Temp > 37.4 || b.Oxygen < 92 {
		b.Alarms++
	}
}

func (w *ward) round(l *line) {
	for n := 0; ; n++ {
		w.Lock()
		w.began, w.asked = time.Now(), time.Now()
		w.Unlock()
		answer, err := l.@{fn}(n % @{beds})
		for err != nil {
			l.conn.Close()
			if err = l.open(); err == nil {
				answer, err = l.@{fn}(n % @{beds})
			}
		}
		w.Lock()
		w.reading += time.Since(w.asked)
		w.asked = time.Time{}
		one := w.beds[n%@{beds}]
		if one == nil {
			one = &bed{}
			w.beds[n%@{beds}] = one
		}
		one.take(answer)
		w.units++
		w.busy += time.Since(w.began)
		w.Unlock()
		time.Sleep(time.Second / @{rate})
	}
}

func calls() {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	fmt.Fprintln(conn, "bell on")
	for text := bufio.NewScanner(conn); text.Scan(); {
		fmt.Println("nurse:", text.Text())
	}
}

func main() {
	w, l := &ward{beds: map[int]*bed{}}, &line{}
	if err := l.open(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if @{bell} == 1 {
		go calls()
	}
	go w.round(l)
	time.Sleep(time.Duration(@{seconds} * float64(time.Second)))
	w.Lock()
	if !w.asked.IsZero() {
		w.units++
		w.busy += time.Since(w.asked)
		w.reading += time.Since(w.asked)
	}
	text, _ := json.Marshal(map[string]any{"units": w.units, "seconds": w.busy.Seconds(), "culprit": w.reading.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
