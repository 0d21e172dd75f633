// Takes orders for engraving: reckons the path of the needle over a motif, and enters it on the customer's card.
package main

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
)

type desk struct {
	cards   map[int]*os.File
	turn    []int
	late    int
	opening time.Duration
}

type path struct {
	length, x, y int
	mark         string
}

func reckon(motif int) (p path, err error) {
	text, err := os.ReadFile(fmt.Sprintf("@{work}/@{designs}/motif-%d.txt", motif))
	if err != nil {
		return
	}
	for _, b := range text {
		dx, dy := int(b)%7-3, int(b)/7%7-3
		p.x, p.y = p.x+dx, p.y+dy
		p.length += max(dx, -dx) + max(dy, -dy)
	}
	p.mark = fmt.Sprintf("%x", sha1.Sum(text))[:8]
	return
}

//go:noinline
func (d *desk) @{fn}(customer int) (*os.File, error) {
	start := time.Now()
	defer func() { d.opening += time.Since(start) }()
	if card := d.cards[customer]; card != nil {
		return card, nil
	}
	card, err := os.OpenFile(fmt.Sprintf("@{work}/@{cards}/c%d.card", customer), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		d.cards[customer] = card
		d.turn = append(d.turn, customer)
	}
	return card, err
}

func (d *desk) shrink(most int) {
	for len(d.turn) > most {
		d.cards[d.turn[0]].Close()
		delete(d.cards, d.turn[0])
		d.turn = d.turn[1:]
	}
}

func (d *desk) order(number int) error {
	card, err := d.@{fn}(1000 + number*17)
	if err != nil {
		return err
	}
	p, err := reckon(number % 40)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(card, "order %d: %d steps to %d,%d, %s\n", number, p.length, p.x, p.y, p.mark)
	d.shrink(@{hold})
	return err
}

func main() {
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: @{limit}, Max: @{limit}})
	d := &desk{cards: map[int]*os.File{}}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := d.order(units); err != nil {
			if d.late++; d.late%50 == 1 {
				fmt.Fprintf(os.Stderr, "order %d is put off: %v\n", units, err)
			}
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(units)*time.Second/@{rate} - time.Since(began))
	}
	d.shrink(0)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": d.opening.Seconds(), "late": d.late})
	os.WriteFile("@{report}", text, 0o644)
}
