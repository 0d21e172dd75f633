package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Register is where all scales of the creamery book.
type Register struct {
	file   *os.File
	waited time.Duration
}

type cheese struct {
	id           uint32
	grams, salts uint32
}

func (r *Register) @{fnCamel}() error {
	began := time.Now()
	err := syscall.Flock(int(r.file.Fd()), syscall.LOCK_EX)
	r.waited += time.Since(began)
	return err
}

func (r *Register) book(batch []cheese) error {
	page := make([]byte, 0, 12*len(batch))
	for _, c := range batch {
		page = binary.LittleEndian.AppendUint32(page, c.id)
		page = binary.LittleEndian.AppendUint32(page, c.grams)
		page = binary.LittleEndian.AppendUint32(page, c.salts)
	}
	if err := r.@{fnCamel}(); err != nil {
		return err
	}
	defer syscall.Flock(int(r.file.Fd()), syscall.LOCK_UN)
	_, err := r.file.WriteAt(page, int64(batch[0].id%8)*int64(len(page)))
	return err
}

func weigh(number int) []cheese {
	batch := make([]cheese, @{cheeses})
	for i := range batch {
		batch[i] = cheese{id: uint32(number*@{cheeses} + i), grams: uint32(2000 + (number*31+i*17)%900)}
	}
	brine := fnv.New32a()
	for i := 0; i < @{salt}; i++ {
		c := &batch[i%len(batch)]
		brine.Write([]byte{byte(c.grams), byte(i), byte(i >> 8)})
		c.salts += brine.Sum32() % 5
	}
	return batch
}

// lead waits until this scale is the one that prints the labels.
func lead(path string) *os.File {
	turn, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		panic(err)
	}
	syscall.Flock(int(turn.Fd()), syscall.LOCK_EX)
	return turn
}

func main() {
	turn := lead("@{work}/labels.turn")
	defer turn.Close()
	if len(os.Args) > 1 {
		return
	}
	if @{deputy} == 1 {
		deputy := exec.Command(os.Args[0], "deputy")
		if deputy.Start() == nil {
			defer deputy.Wait()
			defer deputy.Process.Kill()
		}
	}
	file, err := os.OpenFile("@{work}/@{register}", os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	register := &Register{file: file}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := register.book(weigh(units)); err != nil {
			panic(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), register.waited.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
