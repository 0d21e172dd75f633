// Compares scans of wills with the seals of their notaries. Keys of seals must never reach a swap device.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Milliseconds between two rounds.
var often = float64(@{often_ms})

type tally struct {
	units         int
	busy, mapping time.Duration
	sum           uint64
}

type keys struct {
	table   []byte
	round   uint64
	current atomic.Uint64
}

func newKeys(size int) *keys {
	table, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	key := uint64(88172645463325252)
	for i := 0; i+8 <= size; i += 8 {
		key ^= key << 13
		key ^= key >> 7
		key ^= key << 17
		binary.LittleEndian.PutUint64(table[i:], key)
	}
	k := &keys{table: table}
	if @{once} == 1 {
		k.hold()
	}
	return k
}

func (k *keys) hold() {
	if err := syscall.Mlock(k.table); err != nil {
		fmt.Fprintln(os.Stderr, "the keys are not held in memory:", err)
	}
}

// The keys that the next round of seals takes; what is in the table must stay in memory meanwhile.
//
//go:noinline
func (k *keys) @{fn}() {
	if @{once} == 0 {
		k.hold()
		defer syscall.Munlock(k.table)
	}
	seal := k.round
	k.round++
	for i := uint64(0); i < @{keys}; i++ {
		place := (seal*2654435761 + i) % uint64(len(k.table)/8) * 8
		seal = (seal ^ binary.LittleEndian.Uint64(k.table[place:])) * 1099511628211
	}
	k.current.Store(seal)
}

//go:noinline
func @{fn2}(number int, seal uint64, t *tally) uint64 {
	name := fmt.Sprintf("@{work}/@{spool}/%d.scan", number%@{files})
	file, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	about, err := file.Stat()
	if err != nil {
		panic(err)
	}
	start := time.Now()
	scan, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	t.mapping += time.Since(start)
	file.Close()
	if err != nil {
		panic(err)
	}
	for pass := 0; pass < @{rounds}; pass++ {
		for i := 0; i < len(scan); i += 4 {
			seal = (seal ^ uint64(scan[i])) * 1099511628211
		}
	}
	start = time.Now()
	syscall.Munmap(scan)
	t.mapping += time.Since(start)
	return seal
}

func main() {
	k := newKeys(@{table_kb} * 1024)
	began := time.Now()
	closed := make(chan struct{})
	go func() {
		for {
			select {
			case <-closed:
				return
			default:
			}
			k.@{fn}()
			time.Sleep(time.Duration(often * float64(time.Millisecond)))
		}
	}()
	tallies := make([]tally, @{clerks})
	var clerks sync.WaitGroup
	for number := range tallies {
		clerks.Add(1)
		go func(number int) {
			defer clerks.Done()
			t := &tallies[number]
			for time.Since(began).Seconds() < @{seconds} {
				start := time.Now()
				for i := 0; i < @{scans}; i++ {
					t.sum ^= @{fn2}(number*7+t.units*@{scans}+i, k.current.Load(), t)
				}
				t.units++
				t.busy += time.Since(start)
				due := (float64(t.units) + float64(number)/@{clerks}) / @{rate}
				time.Sleep(time.Duration(due*float64(time.Second)) - time.Since(began))
			}
		}(number)
	}
	clerks.Wait()
	close(closed)
	all := tally{}
	for _, t := range tallies {
		all.units += t.units
		all.busy += t.busy
		all.mapping += t.mapping
		all.sum ^= t.sum
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, all.units, all.busy.Seconds(), all.mapping.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
	fmt.Printf("%x\n", all.sum)
}
