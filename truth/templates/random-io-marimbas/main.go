// Renders the notes of a score: a note is a cloud of short grains of its instrument.
package main

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"syscall"
	"time"
)

const (
	grain  = 4096
	region = @{region_kb} * 1024
	block  = 256 * 1024
)

type bank struct {
	file    *os.File
	mapped  []byte
	fetched time.Duration
	room    []byte
}

func open(path string) (*bank, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	state, err := file.Stat()
	if err != nil {
		return nil, err
	}
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(state.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &bank{file: file, mapped: mapped, room: make([]byte, region)}, syscall.Madvise(mapped, syscall.MADV_RANDOM)
}

//go:noinline
func (b *bank) @{fnCamel}(to []byte, at int) {
	start := time.Now()
	copy(to, b.mapped[at:])
	b.fetched += time.Since(start)
}

func (b *bank) blocks(at, size int) []byte {
	start := time.Now()
	n, err := b.file.ReadAt(b.room[:size], int64(at))
	if err != nil {
		panic(err)
	}
	b.fetched += time.Since(start)
	return b.room[:n]
}

// Nanoseconds from one to the next.
var period = 1e9 / @{per_s}

var window [grain / 2]float64

func mix(note []float64, from []byte, at int) {
	for voice := range @{voices} * 8 {
		gain := 1 / float64(voice+1)
		for i := range window {
			sample := int16(from[2*i]) | int16(from[2*i+1])<<8
			note[(at+i)%len(note)] += gain * window[i] * float64(sample)
		}
	}
}

func (b *bank) note(number int, chance *rand.Rand) []float64 {
	note := make([]float64, grain*16)
	first := number * 7 % (len(b.mapped) / region) * region
	switch "@{mode}" {
	case "grains":
		var one [grain]byte
		for i := range @{grains} {
			b.@{fnCamel}(one[:], first+chance.Intn(region/grain)*grain)
			mix(note, one[:], i*grain/8)
		}
	case "instrument":
		all := b.blocks(first, region)
		for i := range @{grains} {
			mix(note, all[chance.Intn(region/grain)*grain:], i*grain/8)
		}
	default:
		for track := range 4 {
			for i, at := 0, 0; at < block; i, at = i+1, at+grain {
				if i == 0 {
					b.blocks((len(b.mapped)/4*track+number*block)&^4095, block)
				}
				if i%4 == 0 {
					mix(note, b.room[at:], i*grain/8)
				}
			}
		}
	}
	return note
}

func main() {
	for i := range window {
		window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(len(window)))
	}
	b, err := open("@{work}/@{volume}/@{library}")
	if err != nil {
		panic(err)
	}
	chance := rand.New(rand.NewSource(@{grains}))
	began, busy, loudest, units := time.Now(), time.Duration(0), 0.0, 0
	for ; time.Since(began).Seconds() < @{seconds}; units++ {
		start := time.Now()
		for _, sample := range b.note(units, chance) {
			loudest = max(loudest, math.Abs(sample))
		}
		took := time.Since(start)
		busy += took
		time.Sleep(time.Duration(period) - took)
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "loudest": %f}`, units, busy.Seconds(), b.fetched.Seconds(), loudest)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
