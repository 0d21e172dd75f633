// Receives the reports of buoys. A few goroutines look at them; what is outside of the limits is counted for the office.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type limit struct{ low, high int }

type table struct {
	path string
	mu   sync.RWMutex
	read time.Time
	rows map[string]limit
}

//go:noinline
func @{fnCamel}(path string) (map[string]limit, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := map[string]limit{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) == 3 {
			low, _ := strconv.Atoi(words[1])
			high, _ := strconv.Atoi(words[2])
			rows[words[0]] = limit{low, high}
		}
	}
	return rows, lines.Err()
}

func (t *table) current(now time.Time) map[string]limit {
	t.mu.RLock()
	rows, read := t.rows, t.read
	t.mu.RUnlock()
	if rows != nil && now.Sub(read) < @{good_for}*time.Second {
		return rows
	}
	rows, err := @{fnCamel}(t.path)
	if err != nil {
		log.Fatal(err)
	}
	t.mu.Lock()
	t.rows, t.read = rows, now
	t.mu.Unlock()
	return rows
}

type watch struct {
	tables               []*table
	units, busy, looking atomic.Int64
}

func (w *watch) limitOf(name string) (limit, bool) {
	start := time.Now()
	defer func() { w.looking.Add(int64(time.Since(start))) }()
	for _, t := range w.tables {
		if found, ok := t.current(start)[name]; ok {
			return found, true
		}
	}
	return limit{}, false
}

func (w *watch) listen(air *net.UDPConn, end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	report := make([]byte, 2048)
	for {
		air.SetReadDeadline(end)
		size, err := air.Read(report)
		if err != nil {
			return
		}
		start := time.Now()
		outside := 0
		for i := 0; 8+2*i < size; i++ {
			level := int(int16(binary.BigEndian.Uint16(report[8+2*i:])))
			if l, ok := w.limitOf("value" + strconv.Itoa(i%@{entries})); ok && (level < l.low || level > l.high) {
				outside++
			}
		}
		air.Write(binary.BigEndian.AppendUint16(report[:4:4], uint16(outside)))
		w.units.Add(1)
		w.busy.Add(int64(time.Since(start)))
	}
}

func main() {
	air, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: @{air}})
	if err != nil {
		log.Fatal(err)
	}
	w := &watch{tables: []*table{{path: "@{work}/@{deep}/@{own}"}, {path: "@{work}/@{deep}/@{all}"}}}
	end := time.Now().Add(time.Duration(@{seconds} * float64(time.Second)))
	var done sync.WaitGroup
	for i := 0; i < @{hear}; i++ {
		done.Add(1)
		go w.listen(air, end, &done)
	}
	air.Write([]byte("here"))
	done.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, w.units.Load(), float64(w.busy.Load())/1e9, float64(w.looking.Load())/1e9)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
