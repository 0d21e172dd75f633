// The counting hall: keeps each ballot that the scanners have read, in the file of its box, and counts the votes of the lists.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

type box struct {
	file  *os.File
	since int
	last  int
}

var settling time.Duration

//go:noinline
func (b *box) @{fnCamel}(ballot string) error {
	b.last++
	if _, err := fmt.Fprintf(b.file, "%08d;%s;%s\n", b.last, ballot, strings.Repeat(".", @{remark})); err != nil {
		return err
	}
	b.since++
	if b.since == @{every} {
		return b.settle()
	}
	return nil
}

func (b *box) settle() error {
	if b.since == 0 {
		return nil
	}
	start := time.Now()
	err := b.file.Sync()
	settling += time.Since(start)
	b.since = 0
	return err
}

type hall struct {
	boxes   []*box
	votes   map[string]int
	settled time.Time
}

func (h *hall) stack(number int, ballots []string) error {
	for _, ballot := range ballots {
		if err := h.boxes[number].@{fnCamel}(ballot); err != nil {
			return err
		}
		list, _, _ := strings.Cut(ballot, ";")
		h.votes[list]++
	}
	if @{every} == 0 && time.Since(h.settled).Seconds() > @{period} {
		return h.settleAll()
	}
	return nil
}

func (h *hall) settleAll() error {
	for _, b := range h.boxes {
		if err := b.settle(); err != nil {
			return err
		}
	}
	h.settled = time.Now()
	return nil
}

func main() {
	h := &hall{votes: map[string]int{}, settled: time.Now()}
	for number := 0; number < @{count}; number++ {
		file, err := os.OpenFile(fmt.Sprintf("@{work}/@{boxes}/box-%d.votes", number), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err != nil {
			log.Fatal(err)
		}
		h.boxes = append(h.boxes, &box{file: file})
	}
	tray, err := os.Open("@{work}/@{tray}")
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(tray)
	begin, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(begin).Seconds() < @{seconds} && lines.Scan() {
		var number, count int
		if _, err := fmt.Sscan(lines.Text(), &number, &count); err != nil {
			log.Fatal(err)
		}
		ballots := make([]string, 0, count)
		for len(ballots) < count && lines.Scan() {
			ballots = append(ballots, lines.Text())
		}
		start := time.Now()
		if err := h.stack(number, ballots); err != nil {
			log.Fatal(err)
		}
		busy += time.Since(start)
		units++
	}
	if @{every} == 0 {
		h.settleAll()
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), settling.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
