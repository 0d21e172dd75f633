// Verifies signatures: looks those up that the letters of a batch name, and compares them with what was signed.
package main

import (
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"syscall"
	"time"
)

const window = @{window_kb} * 1024

type archive struct {
	file  *os.File
	whole []byte
	spent time.Duration
}

func openArchive(path string) *archive {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	a := &archive{file: file}
	if @{held} == 1 {
		a.whole, err = syscall.Mmap(int(file.Fd()), 0, @{windows}*window, syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			log.Fatal(err)
		}
	}
	return a
}

//go:noinline
func (a *archive) @{fnCamel}(number int, use func([]byte)) {
	if a.whole != nil {
		use(a.whole[number*window : (number+1)*window])
		return
	}
	start := time.Now()
	view, err := syscall.Mmap(int(a.file.Fd()), int64(number)*window, window, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		log.Fatal(err)
	}
	a.spent += time.Since(start)
	use(view)
	start = time.Now()
	if err := syscall.Munmap(view); err != nil {
		log.Fatal(err)
	}
	a.spent += time.Since(start)
}

type letter struct {
	number    int
	signature [@{length}]byte
}

func (l *letter) signedBy(view []byte) uint32 {
	at := l.number * 131 % (4096 - @{length})
	copy(l.signature[:], view[at:])
	return crc32.ChecksumIEEE(l.signature[:])
}

func (a *archive) batch(first int) (sum uint32) {
	letters := make([]letter, @{records})
	if @{each} == 1 {
		a.@{fnCamel}(first%@{windows}, func(view []byte) {
			for i := range letters {
				letters[i].number = first + i
				sum ^= letters[i].signedBy(view)
			}
		})
		return sum
	}
	for i := range letters {
		letters[i].number = first + i
		a.@{fnCamel}((first+i*7)%@{windows}, func(view []byte) { sum ^= letters[i].signedBy(view) })
	}
	return sum
}

func main() {
	var busy time.Duration
	var sum uint32
	units := 0
	store := openArchive("@{work}/@{archive}")
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		sum ^= store.batch(units * 13)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println(units, "batches", sum)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), store.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
