package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"strings"
	"time"
)

type message struct {
	ID     int
	Topic  string
	Fields map[string]string
	Raw    string
}

type logger struct {
	*log.Logger
	file  *os.File
	debug bool
	bytes int
}

func (l *logger) debugf(format string, values ...any) {
	if !l.debug {
		return
	}
	l.Printf("DEBUG "+format, values...)
	if l.bytes += @{width}; l.bytes > 40<<20 {
		l.file.Truncate(0)
		l.bytes = 0
	}
}

type gateway struct {
	log   *logger
	sum   uint32
	spent time.Duration
}

func (g *gateway) @{fnCamel}(batch []message) {
	for i := range batch {
		for n := 0; n < @{scale}; n++ {
			g.sum += crc32.ChecksumIEEE([]byte(batch[i].Raw))
		}
	}
	start := time.Now()
	for i := range batch {
		g.log.debugf("handled %+v", batch[i])
	}
	if @{access} == 1 {
		g.log.Printf("POST /batch 200 %d %08x", len(batch), g.sum)
	}
	g.spent += time.Since(start)
}

func main() {
	file, err := os.OpenFile("@{work}/@{log}", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	g := &gateway{log: &logger{Logger: log.New(file, "", log.LstdFlags|log.Lmicroseconds), file: file, debug: "@{level}" == "DEBUG"}}
	batch := make([]message, @{events})
	for i := range batch {
		batch[i] = message{i, "prices", map[string]string{"source": "feed", "zone": "eu", "unit": "kg"}, strings.Repeat("r", @{width}-120)}
	}
	rate := 2 * @{megabytes} * 1e6 / (@{width} * @{events})
	if rate > 100 {
		rate = 100
	}
	work := make(chan []message)
	done := make(chan bool)
	var busy time.Duration
	units := 0
	go func() {
		for batch := range work {
			start := time.Now()
			g.@{fnCamel}(batch)
			units++
			busy += time.Since(start)
		}
		close(done)
	}()
	began := time.Now()
	for n := 1; time.Since(began).Seconds() < @{seconds}; n++ {
		work <- batch
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / rate * 1e9))))
	}
	close(work)
	<-done
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), g.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
