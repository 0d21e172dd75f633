// Brings loaned audiobooks to the player of a branch, chapter by chapter.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

type loan struct {
	Number  int
	Reader  string
	Chapter int
	Until   time.Time
}

type branch struct {
	line    *net.TCPConn
	answers *bufio.Reader
	moving  time.Duration
	sent    int64
}

//go:noinline
func (b *branch) @{fnCamel}(file *os.File, size int64) error {
	if "@{how}" == "kernel" {
		n, err := io.CopyN(b.line, file, size)
		b.sent += n
		return err
	}
	piece := make([]byte, @{buffer})
	for {
		n, err := file.Read(piece)
		if n > 0 {
			if _, failed := b.line.Write(piece[:n]); failed != nil {
				return failed
			}
			b.sent += int64(n)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *branch) masked(file *os.File, one loan) error {
	piece, key := make([]byte, 65536), byte(1+one.Number%255)
	for {
		n, err := file.Read(piece)
		for at := range piece[:n] {
			piece[at] ^= key
		}
		if _, failed := b.line.Write(piece[:n]); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
	}
}

func (b *branch) bring(one loan) error {
	file, err := os.Open(fmt.Sprintf("@{work}/@{shelf}/ch%d@{suffix}", one.Chapter))
	if err != nil {
		return err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.line, "%s-ch%d %d\n", one.Reader, one.Chapter, about.Size())
	if "@{how}" == "mask" {
		err = b.masked(file, one)
	} else {
		start := time.Now()
		err = b.@{fnCamel}(file, about.Size())
		if "@{how}" == "loop" {
			b.moving += time.Since(start)
		}
	}
	if err != nil {
		return err
	}
	_, err = b.answers.ReadString('\n')
	return err
}

func main() {
	line, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		panic(err)
	}
	b := &branch{line: line.(*net.TCPConn), answers: bufio.NewReader(line)}
	ledger := map[int][]byte{}
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		sum := sha256.Sum256(fmt.Appendf(nil, "reader %d", units%300))
		one := loan{units, fmt.Sprintf("%x", sum[:4]), units % @{chapters}, start.AddDate(0, 0, 21)}
		if err := b.bring(one); err != nil {
			panic(err)
		}
		ledger[units], _ = json.Marshal(one)
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), b.moving.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
