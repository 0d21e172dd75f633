// Prints rolls of tickets for a tombola: codes that nobody can guess, with a check letter.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"
)

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

type dice struct {
	source io.Reader
	spent  time.Duration
}

func newDice() *dice {
	device, err := os.OpenFile("/dev/urandom", os.O_RDONLY, 0)
	if err != nil {
		panic(err)
	}
	if @{pool} > 0 {
		return &dice{source: bufio.NewReaderSize(device, max(@{pool}, 16))}
	}
	return &dice{source: device}
}

// One of the letters, each as likely.
//go:noinline
func (d *dice) @{fnCamel}(raw []byte) byte {
	if _, err := io.ReadFull(d.source, raw); err != nil {
		panic(err)
	}
	return raw[0] & 31
}

func (d *dice) codes(count int) [][]byte {
	start := time.Now()
	codes := make([][]byte, 0, count)
	raw := make([]byte, @{bytes})
	for n := 0; n < count; n++ {
		code, sum := make([]byte, 0, @{letters}+1), byte(0)
		for i := 0; i < @{letters}; i++ {
			letter := d.@{fnCamel}(raw)
			code = append(code, alphabet[letter])
			sum += letter
		}
		codes = append(codes, append(code, alphabet[sum&31]))
	}
	if @{pool} == 0 {
		d.spent += time.Since(start)
	}
	return codes
}

func printed(codes [][]byte, roll int) uint32 {
	var sheet bytes.Buffer
	for n, code := range codes {
		fmt.Fprintf(&sheet, "%d/%d\t%s\n", roll, n, code)
	}
	return crc32.ChecksumIEEE(sheet.Bytes())
}

func main() {
	d, units, busy, seal := newDice(), 0, time.Duration(0), uint32(0)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		seal ^= printed(d.codes(@{used}), units)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println("seal of all rolls:", seal)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), d.spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
