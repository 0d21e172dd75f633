// Planner of journeys by bus: how far one gets from a stop, and when.
package main

import (
	"bufio"
	"container/heap"
	"fmt"
	"log"
	"net"
)

const (
	stops = @{stops}
	width = 300
	reach = @{reach}
)

type ride struct {
	to      *stop
	minutes int
}

type stop struct {
	number int
	name   string
	rides  []*ride
}

type label struct {
	at      *stop
	from    *label
	minutes int
}

// plan is the network of a region's buses.
type plan struct{ stops []*stop }

func newPlan() *plan {
	p := &plan{}
	for i := 0; i < stops; i++ {
		p.stops = append(p.stops, &stop{number: i, name: fmt.Sprintf("%s %d", []string{"Mill", "Church", "School", "Station", "Bridge"}[i%5], i/5)})
	}
	for i, one := range p.stops {
		for k, step := range []int{1, stops - 1, width, stops - width} {
			one.rides = append(one.rides, &ride{p.stops[(i+step)%stops], 2 + (i*7919+k*104729)%11})
		}
	}
	return p
}

type queue []*label

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].minutes < q[j].minutes }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(one any)      { *q = append(*q, one.(*label)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// @{fnCamel} is when the last of the stops is reached, and how many rides that takes.
//
//go:noinline
func (p *plan) @{fnCamel}(start int) (minutes, rides int) {
	best := map[*stop]*label{}
	first := &label{at: p.stops[start]}
	waiting := queue{first}
	best[first.at] = first
	var last *label
	for settled := 0; settled < reach && len(waiting) > 0; {
		one := heap.Pop(&waiting).(*label)
		if best[one.at] != one {
			continue
		}
		settled++
		last = one
		for _, r := range one.at.rides {
			then := one.minutes + r.minutes
			if known := best[r.to]; known == nil || then < known.minutes {
				next := &label{at: r.to, from: one, minutes: then}
				best[r.to] = next
				heap.Push(&waiting, next)
			}
		}
	}
	for one := last; one.from != nil; one = one.from {
		rides++
	}
	return last.minutes, rides
}

type entry struct{ minutes, number int32 }

// table is what a search notes, kept for the next one.
type table struct {
	minutes, from []int32
	round         []uint32
	done          []bool
	now           uint32
	heap          []entry
}

func newTable() *table {
	return &table{minutes: make([]int32, stops), from: make([]int32, stops), round: make([]uint32, stops), done: make([]bool, stops)}
}

func (t *table) push(one entry) {
	t.heap = append(t.heap, one)
	for i := len(t.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if t.heap[up].minutes <= t.heap[i].minutes {
			return
		}
		t.heap[up], t.heap[i] = t.heap[i], t.heap[up]
		i = up
	}
}

func (t *table) pop() entry {
	top, end := t.heap[0], len(t.heap)-1
	t.heap[0] = t.heap[end]
	t.heap = t.heap[:end]
	for i := 0; ; {
		low := i
		for child := 2*i + 1; child <= 2*i+2 && child < end; child++ {
			if t.heap[child].minutes < t.heap[low].minutes {
				low = child
			}
		}
		if low == i {
			return top
		}
		t.heap[i], t.heap[low] = t.heap[low], t.heap[i]
		i = low
	}
}

func (t *table) note(number, from, minutes int32) {
	if t.round[number] == t.now && t.minutes[number] <= minutes {
		return
	}
	t.round[number], t.minutes[number], t.from[number], t.done[number] = t.now, minutes, from, false
	t.push(entry{minutes, number})
}

func (t *table) search(p *plan, start int) (minutes, rides int) {
	t.now++
	t.heap = t.heap[:0]
	t.note(int32(start), -1, 0)
	last := int32(start)
	for settled := 0; settled < reach && len(t.heap) > 0; {
		one := t.pop()
		if t.done[one.number] {
			continue
		}
		t.done[one.number] = true
		settled++
		last = one.number
		for _, r := range p.stops[last].rides {
			t.note(int32(r.to.number), last, one.minutes+int32(r.minutes))
		}
	}
	minutes = int(t.minutes[last])
	for last = t.from[last]; last >= 0; last = t.from[last] {
		rides++
	}
	return minutes, rides
}

func (p *plan) talk(passenger net.Conn) {
	defer passenger.Close()
	var kept *table
	if "@{labels}" == "table" {
		kept = newTable()
	}
	lines := bufio.NewScanner(passenger)
	for lines.Scan() {
		var start, minutes, rides int
		fmt.Sscanf(lines.Text(), "from %d", &start)
		start = start * 7919 % stops
		if kept != nil {
			minutes, rides = kept.search(p, start)
		} else {
			minutes, rides = p.@{fnCamel}(start)
		}
		fmt.Fprintf(passenger, "%s: %d stops, %d minutes, %d rides\n", p.stops[start].name, reach, minutes, rides)
	}
}

func main() {
	p := newPlan()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		passenger, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go p.talk(passenger)
	}
}
