package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"syscall"
	"time"
)

// A dictionary in volumes; a question names a volume and words of it.
type question struct {
	volume int
	words  []int
	asked  chan<- result
}

type result struct {
	busy, looking time.Duration
	sum           uint64
}

type shelf struct {
	kept  [@{count}][]byte
	first int
}

func (s *shelf) take(number int) []byte {
	if s.kept[number] != nil {
		return s.kept[number]
	}
	file, err := os.Open(fmt.Sprintf("@{work}/@{folder}/@{shard}.%d", number))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	volume, err := syscall.Mmap(int(file.Fd()), 0, @{mb}<<20, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	syscall.Madvise(volume, syscall.MADV_RANDOM)
	return volume
}

//go:noinline
func @{fnCamel}(volume []byte, words []int) (looking time.Duration, sum uint64) {
	hash := fnv.New64a()
	for _, word := range words {
		start := time.Now()
		first := volume[word*4096]
		looking += time.Since(start)
		for round := 0; round < @{rounds}; round++ {
			hash.Write(volume[word*4096 : word*4096+512])
		}
		sum += hash.Sum64() + uint64(first)
	}
	return looking, sum
}

func (s *shelf) answer(questions <-chan question) {
	for ask := range questions {
		start := time.Now()
		volume := s.take(ask.volume)
		looking, sum := @{fnCamel}(volume, ask.words)
		if s.kept[ask.volume] == nil {
			syscall.Munmap(volume)
		}
		ask.asked <- result{time.Since(start), looking, sum}
	}
}

func main() {
	books := &shelf{}
	if "@{mode}" != "each" {
		for number := range books.kept {
			books.kept[number] = books.take(number)
			for at := 0; at < len(books.kept[number]) && "@{mode}" == "preload"; at += 4096 {
				books.first += int(books.kept[number][at])
			}
		}
	}
	questions := make(chan question)
	for i := 0; i < 3; i++ {
		go books.answer(questions)
	}
	seconds, often := @{seconds}, float64(@{per_s})
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	tick := time.NewTicker(time.Duration(float64(time.Second) / often))
	var busy, looking float64
	units := 0
	for time.Now().Before(end) {
		words := make([]int, @{touches})
		for i := range words {
			words[i] = rand.Intn(@{mb} << 8)
		}
		asked := make(chan result, 1)
		questions <- question{rand.Intn(@{count}), words, asked}
		done := <-asked
		busy += done.busy.Seconds()
		looking += done.looking.Seconds()
		units++
		<-tick.C
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": looking, "first": books.first % 7})
	os.WriteFile("@{report}", text, 0o644)
}
