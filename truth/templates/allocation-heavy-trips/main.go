// Finds how parcels get through the depots of a carrier: a line in (`trip 17`), a line out.
package main

import (
	"bufio"
	"container/heap"
	"fmt"
	"log"
	"math"
	"net"
)

type ramp struct {
	to    int
	hours float64
	lorry string
}

type depot struct {
	name  string
	x, y  float64
	ramps []ramp
}

type leg struct {
	from, to string
	hours    float64
}

type way struct {
	hours, guess float64
	depot, depth int
	legs         []*leg
}

type ways []*way

func (w ways) Len() int           { return len(w) }
func (w ways) Less(i, j int) bool { return w[i].guess < w[j].guess }
func (w ways) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *ways) Push(one any)      { *w = append(*w, one.(*way)) }
func (w *ways) Pop() any {
	last := len(*w) - 1
	one := (*w)[last]
	*w = (*w)[:last]
	return one
}

var depots []depot

func readDepots() {
	for i := 0; i < @{stops}; i++ {
		one := depot{name: fmt.Sprintf("depot %d", i), x: float64(i % 31), y: float64(i * 7 % 29)}
		for k := 1; k <= @{degree}; k++ {
			one.ramps = append(one.ramps, ramp{(i*3 + k*37 + 1) % @{stops}, 1 + float64(i*k%7), fmt.Sprintf("lorry %d", k)})
		}
		depots = append(depots, one)
	}
}

func guess(from, to int) float64 {
	return math.Hypot(depots[from].x-depots[to].x, depots[from].y-depots[to].y) / 3
}

//go:noinline
func @{fnCamel}(so *way, by ramp, goal int) *way {
	next := &way{hours: so.hours + by.hours, depot: by.to, depth: so.depth + 1}
	for _, one := range so.legs {
		next.legs = append(next.legs, &leg{one.from, one.to, one.hours})
	}
	next.legs = append(next.legs, &leg{depots[so.depot].name, depots[by.to].name, by.hours})
	next.guess = next.hours + guess(by.to, goal)
	return next
}

type planner struct {
	table []way
	open  ways
}

// Ways of the table are used again for the next parcel; of each the end alone is known.
func (p *planner) next(so *way, by ramp, goal int) *way {
	p.table = append(p.table, way{})
	one := &p.table[len(p.table)-1]
	one.hours, one.depot, one.depth = so.hours+by.hours, by.to, so.depth+1
	one.guess = one.hours + guess(by.to, goal)
	return one
}

func (p *planner) plan(from, goal int) string {
	p.table, p.open = p.table[:0], p.open[:0]
	best, legs := math.Inf(1), 0
	heap.Push(&p.open, &way{guess: guess(from, goal), depot: from})
	for tries := 0; tries < @{limit} && p.open.Len() > 0; tries++ {
		so := heap.Pop(&p.open).(*way)
		if so.depot == goal && so.hours < best {
			best, legs = so.hours, so.depth
		}
		for _, by := range depots[so.depot].ramps {
			if so.depth > 8 {
				break
			}
			if @{copies} == 1 {
				heap.Push(&p.open, @{fnCamel}(so, by, goal))
			} else {
				heap.Push(&p.open, p.next(so, by, goal))
			}
		}
	}
	if math.IsInf(best, 1) {
		best = 0
	}
	return fmt.Sprintf("%s to %s: %.1f hours, %d legs\n", depots[from].name, depots[goal].name, best, legs)
}

func serve(line net.Conn) {
	defer line.Close()
	mine := &planner{table: make([]way, 0, @{limit}*@{degree}+1)}
	asked := bufio.NewScanner(line)
	for asked.Scan() {
		number := 0
		if _, err := fmt.Sscanf(asked.Text(), "trip %d", &number); err != nil {
			fmt.Fprintln(line, "a trip and its number, please")
			continue
		}
		fmt.Fprint(line, mine.plan(number*131%@{stops}, (number*977+41)%@{stops}))
	}
}

func main() {
	readDepots()
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(line)
	}
}
