// A reading room: a reader asks for a passage, the register says where, and the folios around it are shown.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand"
	"os"
	"sync"
	"time"
)

const folio = @{kb} << 10

type room struct {
	register, folios *os.File
	entries, count   int64
	mu               sync.Mutex
	units            int
	busy, read       time.Duration
}

func join(group string) {
	if err := os.WriteFile("/sys/fs/cgroup/memory/"+group+"/cgroup.procs", []byte(fmt.Sprint(os.Getpid())), 0o644); err != nil {
		panic(err)
	}
}

func open(path string, unit int64) (*os.File, int64) {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	about, _ := file.Stat()
	return file, about.Size() / unit
}

//go:noinline
func (r *room) @{fnCamel}(entry int64, into []byte) {
	var slot [4096]byte
	if _, err := r.register.ReadAt(slot[:], entry*4096); err != nil {
		panic(err)
	}
	where := int64(binary.LittleEndian.Uint64(slot[entry%500*8:]) >> 1)
	for i := int64(0); i < @{around}; i++ {
		if _, err := r.folios.ReadAt(into[i*folio:(i+1)*folio], (where+i*7919)%r.count*folio); err != nil {
			panic(err)
		}
	}
}

func (r *room) check(turn int64, into []byte) {
	for i := int64(0); i < @{around}; i++ {
		r.folios.ReadAt(into[i*folio:(i+1)*folio], (turn*@{around}+i)%r.count*folio)
	}
}

func compare(pages []byte) uint32 {
	sum := uint32(0)
	for i := 0; i < @{rounds}; i++ {
		for at := 0; at < len(pages); at += folio {
			sum ^= crc32.ChecksumIEEE(pages[at : at+4096])
		}
	}
	return sum
}

func (r *room) reader(questions <-chan int64) {
	pages := make([]byte, @{around}*folio)
	for question := range questions {
		start := time.Now()
		if "@{way}" == "check" {
			r.check(question, pages)
		} else {
			r.@{fnCamel}(rand.Int63n(r.entries), pages)
		}
		read := time.Since(start)
		compare(pages)
		r.mu.Lock()
		r.units++
		r.read += read
		r.busy += time.Since(start)
		r.mu.Unlock()
	}
}

func main() {
	join("@{slice}")
	r := &room{}
	r.register, r.entries = open("@{work}/@{register}", 4096)
	r.folios, r.count = open("@{work}/@{folios}", folio)
	if "@{way}" != "check" {
		part := make([]byte, 1<<20)
		for _, file := range []*os.File{r.register, r.folios} {
			for n, _ := file.Read(part); n > 0; n, _ = file.Read(part) {
			}
		}
	}
	questions := make(chan int64)
	var readers sync.WaitGroup
	for i := 0; i < @{readers}; i++ {
		readers.Add(1)
		go func() { defer readers.Done(); r.reader(questions) }()
	}
	perSecond := @{per_s} * 1.0
	began := time.Now()
	due := began
	for turn := int64(0); time.Since(began).Seconds() < @{seconds}; turn++ {
		questions <- turn
		due = due.Add(time.Duration(float64(time.Second) / perSecond))
		if due.Before(time.Now()) {
			due = time.Now()
		}
		time.Sleep(time.Until(due))
	}
	close(questions)
	readers.Wait()
	text, _ := json.Marshal(map[string]any{"units": r.units, "seconds": r.busy.Seconds(), "culprit": r.read.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
