// The price desk of a camp site: "quote PITCH NIGHTS" is answered by what the stay costs. The season's prices follow the bookings.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"sync"
	"time"
)

type pitch struct {
	cents  [@{nights}]int
	booked [@{nights}]bool
	shade  float64
}

type register struct {
	sync.Mutex
	pitches []pitch
	quoted  int
	season  int
}

func newRegister() *register {
	r := &register{pitches: make([]pitch, @{pitches})}
	for i := range r.pitches {
		p := &r.pitches[i]
		p.shade = float64(i%7) / 7
		for n := range p.cents {
			p.cents[n] = 1500 + i%40*10
			p.booked[n] = (i*31+n*17)%5 == 0
		}
	}
	return r
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// One pass over the pitches after another, each nearer to what the demand of the neighbouring nights says.
//
//go:noinline
func @{fnCamel}(pitches []pitch, spend time.Duration) int {
	moved := 0
	for end, i := time.Now().Add(spend), 0; time.Now().Before(end); i++ {
		p := &pitches[i%len(pitches)]
		for n := range p.cents {
			demand := 0.0
			for d := -6; d <= 6; d++ {
				if m := n + d; m >= 0 && m < len(p.booked) && p.booked[m] {
					demand += math.Exp(-float64(d*d) / 8)
				}
			}
			wanted := int(1400 + 300*demand + 200*p.shade)
			if wanted != p.cents[n] {
				p.cents[n] += (wanted - p.cents[n]) / 2
				moved++
			}
		}
	}
	return moved
}

func (r *register) follow() {
	for {
		spend := milliseconds(@{hold})
		if @{aside} == 1 {
			r.Lock()
			draft := append([]pitch(nil), r.pitches...)
			r.Unlock()
			@{fnCamel}(draft, spend)
			r.Lock()
			r.pitches = draft
			r.season++
			r.Unlock()
		} else {
			r.Lock()
			@{fnCamel}(r.pitches, spend)
			r.season++
			r.Unlock()
		}
		time.Sleep(milliseconds(@{rest}))
	}
}

func (r *register) quote(number, nights int) (cents, season int) {
	r.Lock()
	defer r.Unlock()
	p := &r.pitches[number%len(r.pitches)]
	for n := 0; n < nights; n++ {
		cents += p.cents[(number+n)%len(p.cents)]
	}
	r.quoted++
	return cents, r.season
}

// The tourist tax, by the guests' ages, and a reference number with a check figure.
func voucher(number, cents int) (tax int, reference uint32) {
	for guest := 0; guest < 4; guest++ {
		if (number+guest*13)%80 > 16 {
			tax += 180
		}
	}
	reference = 2166136261
	for round := 0; round < 20000; round++ {
		reference = (reference ^ uint32(number+cents+round)) * 16777619
	}
	return
}

func (r *register) serve(caller net.Conn) {
	defer caller.Close()
	for lines := bufio.NewScanner(caller); lines.Scan(); {
		var number, nights int
		if _, err := fmt.Sscanf(lines.Text(), "quote %d %d", &number, &nights); err != nil {
			fmt.Fprintln(caller, "what?")
			continue
		}
		cents, season := r.quote(number, nights)
		tax, reference := voucher(number, cents)
		fmt.Fprintf(caller, "%d.%02d incl. tax, season %d, ref %08x\n", (cents+tax)/100, (cents+tax)%100, season, reference)
	}
}

func main() {
	r := newRegister()
	go r.follow()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		caller, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go r.serve(caller)
	}
}
