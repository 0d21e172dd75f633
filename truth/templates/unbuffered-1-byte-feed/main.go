// Follows the quotes of a market and keeps the best of each paper.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

type quote struct {
	id, price int
	paper     string
}

type book map[string]int

// What the market signs a quote with.
func (q *quote) mark() uint32 {
	text := append([]byte(q.paper), byte(q.id), byte(q.price))
	sum := sha256.Sum256(text)
	for i := 1; i < @{keys}; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return binary.LittleEndian.Uint32(sum[:])
}

func @{fnCamel}(in io.Reader, count int, quotes []quote) ([]quote, error) {
	for i := 0; i < count; i++ {
		var q quote
		if _, err := fmt.Fscan(in, &q.id, &q.price, &q.paper); err != nil {
			return quotes, err
		}
		quotes = append(quotes, q)
	}
	return quotes, nil
}

func (b book) take(quotes []quote) {
	for i := range quotes {
		q := &quotes[i]
		if best, known := b[q.paper]; q.mark() != 0 && (!known || q.price > best) {
			b[q.paper] = q.price
		}
	}
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(conn, "%.4f %d\n", @{pace}*500000/float64(@{lines}*@{width}), @{used})
	var in io.Reader = conn
	if @{buffer} > 0 {
		in = bufio.NewReaderSize(conn, @{buffer})
	}
	best := book{}
	var quotes []quote
	var busy, reading time.Duration
	units := 0
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		var word string
		var count int
		if _, err := fmt.Fscan(in, &word, &count); err != nil {
			panic(err)
		}
		start := time.Now()
		if quotes, err = @{fnCamel}(in, count, quotes[:0]); err != nil {
			panic(err)
		}
		reading += time.Since(start)
		best.take(quotes)
		units++
		busy += time.Since(start)
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), reading.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
