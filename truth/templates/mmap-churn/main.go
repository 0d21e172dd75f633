// Serves parts of an archive to the tasks of a queue.
package main

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

func report(units int, seconds, culprit float64) {
	text := fmt.Sprintf("{\"units\": %d, \"seconds\": %f, \"culprit\": %f}", units, seconds, culprit)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		panic(err)
	}
}

type archive struct {
	file *os.File
	size int
	kept []byte
}

//go:noinline
func (a *archive) @{fnCamel}(n int, fresh bool) int {
	part := a.kept
	if fresh {
		mapped, err := syscall.Mmap(int(a.file.Fd()), 0, a.size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
		if err != nil {
			panic(err)
		}
		defer syscall.Munmap(mapped)
		part = mapped
	}
	at := n * 7919 % (a.size - 64)
	return bytes.IndexByte(part[at:at+64], byte('a'+n%26))
}

//go:noinline
func sign(value uint64, rounds int) uint64 {
	for ; rounds > 0; rounds-- {
		value = value*6364136223846793005 + 1442695040888963407
	}
	return value
}

var signs uint64

func main() {
	path := "@{work}/@{table}"
	size := @{kb} * 1024
	text := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz parts of an archive\n"), size/47+1)[:size]
	if err := os.WriteFile(path, text, 0o644); err != nil {
		panic(err)
	}
	file, _ := os.Open(path)
	parts := &archive{file: file, size: size, kept: text}
	tasks, done := make(chan int), make(chan [2]float64)
	for worker := 0; worker < 2; worker++ {
		go func() {
			for task := range tasks {
				start := time.Now()
				for i := 0; i < @{batch}; i++ {
					parts.@{fnCamel}(task+i, "@{keep}" == "no" && i%@{every} == 0)
				}
				asked := time.Since(start).Seconds()
				signs = sign(uint64(task), @{batch}*30*@{spins})
				done <- [2]float64{asked, time.Since(start).Seconds()}
			}
		}()
	}
	units, busy, culprit := 0, 0.0, 0.0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		tasks <- units
		took := <-done
		culprit += took[0]
		busy += took[1]
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	report(units, busy, culprit)
}
