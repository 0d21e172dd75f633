// A lexicon: the words are in an arena that nobody may write to by mistake, the images of the printed pages are in a file.
package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"sync"
	"syscall"
	"time"
)

const page, size = 4096, @{arena_mb} << 20

type tally struct {
	units         int
	busy, mapping time.Duration
	sum           uint64
}

type arena struct{ words []byte }

func newArena() *arena {
	words, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		log.Fatal(err)
	}
	for at := 0; at < size; at += page {
		copy(words[at:], fmt.Sprintf("entry %d: see entry %d", at/page, at/page*31%9973))
	}
	syscall.Mprotect(words, syscall.PROT_READ)
	return &arena{words}
}

func (a *arena) find(hash uint64) []byte {
	at := hash % (size / page) * page
	return a.words[at : at+64]
}

//go:noinline
func (a *arena) @{fn2}(number int) {
	at := number * 7919 % (size / page) * page
	part := a.words[at : at+page]
	if "@{sealing}" == "arena" {
		part = a.words
	}
	syscall.Mprotect(part, syscall.PROT_READ|syscall.PROT_WRITE)
	copy(a.words[at+64:], fmt.Sprintf("corrected %d times", number))
	syscall.Mprotect(part, syscall.PROT_READ)
}

//go:noinline
func @{fn}(file *os.File, length int) []byte {
	image, err := syscall.Mmap(int(file.Fd()), 0, length, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		log.Fatal(err)
	}
	return image
}

func lookUp(words *arena, file *os.File, t *tally, end time.Time) {
	var kept []byte
	began := time.Now()
	for n := 1; time.Now().Before(end); n++ {
		start := time.Now()
		image := kept
		if image == nil {
			image = @{fn}(file, @{part_kb}*1000)
			t.mapping += time.Since(start)
		}
		digest := fnv.New64a()
		digest.Write(image)
		hash := digest.Sum64() + uint64(n)
		for range 200 {
			hash = hash*31 + uint64(bytes.IndexByte(words.find(hash), 0))
		}
		t.sum += hash
		if "@{mapping}" == "once" {
			kept = image
		} else {
			before := time.Now()
			syscall.Munmap(image)
			t.mapping += time.Since(before)
		}
		t.units++
		t.busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / @{rate})))
	}
}

func main() {
	words := newArena()
	file, err := os.Open("@{work}/@{images}")
	if err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(time.Duration(float64(@{seconds}) * 1e9))
	tallies := make([]tally, @{threads})
	var all sync.WaitGroup
	for i := range tallies {
		all.Add(1)
		go func() {
			defer all.Done()
			lookUp(words, file, &tallies[i], end)
		}()
	}
	for number := 0; @{fixes} > 0 && time.Now().Before(end); number++ {
		words.@{fn2}(number)
		time.Sleep(time.Second / (@{fixes} + 1))
	}
	all.Wait()
	var t tally
	for _, each := range tallies {
		t.units, t.busy, t.mapping, t.sum = t.units+each.units, t.busy+each.busy, t.mapping+each.mapping, t.sum+each.sum
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, t.units, t.busy.Seconds(), t.mapping.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
