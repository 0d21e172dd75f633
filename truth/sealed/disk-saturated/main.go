package main

import (
	"fmt"
	"hash/adler32"
	"math/rand"
	"os"
	"sync"
	"syscall"
	"time"
)

const blockSize = 8192

// A pack of thumbnails: each reader looks one up for its visitor.
type pack struct {
	file   int
	blocks int64
}

func openPack(path string) (*pack, error) {
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	var about syscall.Stat_t
	if err := syscall.Fstat(file, &about); err != nil {
		return nil, err
	}
	return &pack{file, about.Size / blockSize}, nil
}

func (p *pack) @{fnCamel}(chance *rand.Rand, buffer []byte) time.Duration {
	start := time.Now()
	for i := 0; i < @{reads}; i++ {
		if _, err := syscall.Pread(p.file, buffer, chance.Int63n(p.blocks)*blockSize); err != nil {
			panic(err)
		}
	}
	return time.Since(start)
}

func main() {
	thumbs, err := openPack("@{work}/@{disk}/@{data}")
	if err != nil {
		panic(err)
	}
	seconds, often := @{seconds}, float64(@{per_s})
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	period := time.Duration(float64(time.Second) / often)
	var all sync.Mutex
	var done sync.WaitGroup
	var units int
	var busy, reading time.Duration
	for visitor := 0; visitor < @{readers}; visitor++ {
		done.Add(1)
		go func(visitor int) {
			defer done.Done()
			buffer, _ := syscall.Mmap(-1, 0, blockSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			chance := rand.New(rand.NewSource(int64(visitor)))
			due := time.Now().Add(time.Duration(chance.Int63n(int64(period))))
			for time.Now().Before(end) {
				time.Sleep(time.Until(due))
				start := time.Now()
				took := thumbs.@{fnCamel}(chance, buffer)
				for i := 0; i < @{rounds}; i++ {
					buffer[0] += byte(adler32.Checksum(buffer))
				}
				all.Lock()
				units++
				busy += time.Since(start)
				reading += took
				all.Unlock()
				if due = due.Add(period); time.Until(due) < 0 {
					due = time.Now()
				}
			}
		}(visitor)
	}
	done.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), reading.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
