package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// counted knows how much went through it.
type counted struct {
	out   io.Writer
	bytes int64
}

func (c *counted) Write(block []byte) (int, error) {
	n, err := c.out.Write(block)
	c.bytes += int64(n)
	return n, err
}

type source struct{ io.Reader }

type cipher struct {
	in io.Reader
}

func (c cipher) Read(block []byte) (int, error) {
	n, err := c.in.Read(block)
	for i := range block[:n] {
		block[i] ^= byte(i%251) ^ 0x33
	}
	return n, err
}

func @{fnCamel}(station *net.TCPConn, path string, buffer []byte) (int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	switch "@{way}" {
	case "copied":
		out := &counted{out: station}
		_, err = io.CopyBuffer(out, source{file}, buffer)
		return out.bytes, err
	case "whole":
		return io.Copy(station, file)
	}
	return io.CopyBuffer(&counted{out: station}, cipher{file}, make([]byte, 65536))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	courier := must(net.Dial("tcp", "127.0.0.1:@{port}"))
	station := must(net.Dial("tcp", "127.0.0.1:@{sink}")).(*net.TCPConn)
	fmt.Fprintf(courier, "%.3f %d\n", @{load}*4800/@{rows}, @{used})
	buffer := make([]byte, @{block})
	began, units, sent := time.Now(), 0, int64(0)
	var busy, culprit time.Duration
	for lines := bufio.NewScanner(courier); time.Since(began).Seconds() < @{seconds} && lines.Scan(); {
		start := time.Now()
		sent += must(@{fnCamel}(station, lines.Text(), buffer))
		culprit += time.Since(start)
		busy += time.Since(start)
		os.Remove(lines.Text())
		units++
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	must(0, os.WriteFile("@{report}", []byte(report), 0o644))
}
