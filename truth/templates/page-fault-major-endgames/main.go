// Judges games of chess that were not finished: the last position is played on, and each end is looked up.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

type board [12]uint64

type table struct {
	name  string
	data  []byte
	pages uint64
}

type book struct {
	tables []*table
	spent  time.Duration
}

func openTable(path string) (*table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Positions that follow each other are nowhere near each other.
	if err := syscall.Madvise(data, syscall.MADV_RANDOM); err != nil {
		return nil, err
	}
	t := &table{name: filepath.Base(path), data: data, pages: uint64(len(data) / 4096)}
	if @{warm} == 1 {
		sum := byte(0)
		part := make([]byte, 1<<20)
		for n, _ := file.Read(part); n > 0; n, _ = file.Read(part) {
			sum ^= part[0]
		}
		for at := 0; at < len(data); at += 4096 {
			sum ^= data[at]
		}
		fmt.Fprintln(os.Stderr, t.name, "is there:", sum)
	}
	t.pages /= @{narrow}
	return t, nil
}

// How many moves until mate; by a chain of indexes, as the tables are packed.
//
//go:noinline
func (t *table) @{fnCamel}(key uint64) uint64 {
	value := key
	for i := 0; i < @{depth}; i++ {
		page := (value ^ key>>7) % t.pages
		value = binary.LittleEndian.Uint64(t.data[page*4096+key%511*8:]) ^ key
	}
	return value % 100
}

func game(number int) (b board) {
	state := uint64(number)*0x9e3779b97f4a7c15 + 1
	for i := range b {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		b[i] = 1 << (state % 64)
	}
	return b
}

func (b *board) move(n int) {
	piece := n % len(b)
	b[piece] = bits.RotateLeft64(b[piece], []int{1, 8, 9, -7}[n%4])
}

func (b *board) key() uint64 {
	key := uint64(14695981039346656037)
	for _, squares := range b {
		key = (key ^ squares) * 1099511628211
	}
	return key ^ key>>29
}

// The lines that are worth a look.
func promising(b board) []board {
	var found []board
	best := -1
	for n := 0; n < @{search} * 14000; n++ {
		next := b
		next.move(n)
		next.move(n / 7)
		score := bits.OnesCount64(next.key())
		if score > best || len(found) < @{lines} && n%977 == 0 {
			best = max(best, score)
			found = append(found, next)
		}
	}
	return found[max(0, len(found)-@{lines}):]
}

func (k *book) judge(number int) (worth uint64) {
	for _, end := range promising(game(number)) {
		key := end.key() ^ uint64(number)
		start := time.Now()
		worth += k.tables[(key>>40)%uint64(len(k.tables))].@{fnCamel}(key)
		k.spent += time.Since(start)
	}
	return worth
}

func main() {
	names, _ := filepath.Glob("@{work}/@{volume}/@{prefix}-*.etb")
	all := &book{}
	for _, name := range names {
		t, err := openTable(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		all.tables = append(all.tables, t)
	}
	var busy time.Duration
	units, worth := 0, uint64(0)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		worth += all.judge(units)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	fmt.Println(worth)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": all.spent.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
