// Keeps the messages of a bus in segments, so that a consumer may ask for them again.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// A file that starts anew when it is large; the one before is kept.
type rolling struct {
	name  string
	file  *os.File
	size  int
	turn  int
	spent time.Duration
}

func (r *rolling) Write(p []byte) (int, error) {
	start := time.Now()
	if r.file == nil || r.size > @{turn_mb}<<20 {
		if r.file != nil {
			r.file.Close()
			os.Remove(r.path(r.turn - 1))
			r.turn++
		}
		file, err := os.Create(r.path(r.turn))
		if err != nil {
			return 0, err
		}
		r.file, r.size = file, 0
	}
	n, err := r.file.Write(p)
	r.size += n
	r.spent += time.Since(start)
	return n, err
}

func (r *rolling) path(turn int) string { return fmt.Sprintf("@{work}/%03d-%s", turn, r.name) }

type message struct {
	key  uint64
	body []byte
}

type journal struct {
	out    io.Writer
	record []byte
	next   uint64
}

func (j *journal) @{fnCamel}(m *message) error {
	j.next++
	j.record = binary.BigEndian.AppendUint64(j.record[:0], j.next)
	j.record = binary.BigEndian.AppendUint64(j.record, m.key)
	j.record = append(j.record, m.body...)
	j.record = binary.BigEndian.AppendUint32(j.record, crc32.ChecksumIEEE(j.record))
	_, err := j.out.Write(j.record)
	return err
}

// Nanoseconds between two batches.
var period = @{records} * 6e3 / @{pace}

func receive(messages chan<- []message) {
	period := time.Duration(period)
	due := time.Now()
	for n := uint64(0); ; n++ {
		batch := make([]message, @{used})
		for i := range batch {
			body := make([]byte, @{width})
			for at := 0; at+8 <= len(body); at += 64 {
				binary.LittleEndian.PutUint64(body[at:], n*2654435761+uint64(i*at))
			}
			batch[i] = message{uint64(i) % 97, body}
		}
		if due = due.Add(period); time.Since(due) > period {
			due = time.Now()
		}
		time.Sleep(time.Until(due))
		messages <- batch
	}
}

func main() {
	segment, capture := &rolling{name: "@{journal}"}, &rolling{name: "@{capture}"}
	j := &journal{out: segment}
	if @{both} == 1 {
		j.out = io.MultiWriter(segment, capture)
	}
	messages := make(chan []message, 2)
	go receive(messages)
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		batch := <-messages
		start := time.Now()
		for i := range batch {
			if err := j.@{fnCamel}(&batch[i]); err != nil {
				panic(err)
			}
		}
		units++
		busy += time.Since(start)
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), capture.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
