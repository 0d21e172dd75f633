package main

import (
	"fmt"
	"hash/adler32"
	"io"
	"os"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

func waitUntil(due float64) { time.Sleep(time.Duration((due - now()) * 1e9)) }

func report(units int, busy, culprit float64) {
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, culprit)
	os.WriteFile("@{report}", []byte(text), 0o644)
}

type table struct{ file *os.File }

// From the last row to the first.
//go:noinline
func (t table) @{fnCamel}(rows int) (sum uint32) {
	cell := make([]byte, @{size})
	for row := rows - 1; row >= 0; row-- {
		if _, err := t.file.ReadAt(cell, int64(row)*@{size}); err != nil {
			panic(err)
		}
		sum ^= adler32.Checksum(cell)
	}
	return sum
}

func (t table) inBlocks(rows int) (sum uint32) {
	block := make([]byte, max(1, @{block}/@{size})*@{size})
	whole := io.NewSectionReader(t.file, 0, int64(rows)*@{size})
	for {
		got, err := io.ReadFull(whole, block)
		for at := 0; at < got; at += @{size} {
			sum ^= adler32.Checksum(block[at : at+@{size}])
		}
		if err != nil {
			return sum
		}
	}
}

func main() {
	file, err := os.Open("@{file}")
	if err != nil {
		panic(err)
	}
	units, busy, culprit := 0, 0.0, 0.0
	start := now()
	for now()-start < @{seconds} {
		at := now()
		if @{block} > 0 {
			table{file}.inBlocks(@{used})
		} else {
			table{file}.@{fnCamel}(@{used})
			culprit += now() - at
		}
		units++
		busy += now() - at
		waitUntil(start + float64(units)/@{rate})
	}
	report(units, busy, culprit)
}
