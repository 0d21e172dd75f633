// Plans the berths of a port: a ship is given the one that fits it best.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"sync"
	"time"
)

type ship struct {
	number, length, beam, draught int
}

type entry struct {
	ship    ship
	until   time.Time
	ordered bool
}

type berth struct{ length, depth int }

// register is the line to the register of ships; one question at a time.
type register struct {
	line   net.Conn
	stream *bufio.Reader
}

func dialRegister() (*register, error) {
	line, err := net.Dial("tcp", "127.0.0.1:@{register}")
	if err != nil {
		return nil, err
	}
	return &register{line, bufio.NewReader(line)}, nil
}

func (r *register) read() (s ship, err error) {
	text, err := r.stream.ReadString('\n')
	if err == nil {
		_, err = fmt.Sscan(text, &s.number, &s.length, &s.beam, &s.draught)
	}
	return s, err
}

func (r *register) ship(number int) (ship, error) {
	if _, err := fmt.Fprintf(r.line, "ship %d\n", number); err != nil {
		return ship{}, err
	}
	return r.read()
}

func (r *register) fleet(count int) ([]ship, error) {
	if _, err := fmt.Fprintf(r.line, "fleet %d\n", count); err != nil {
		return nil, err
	}
	all := make([]ship, count)
	for i := range all {
		var err error
		if all[i], err = r.read(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type planner struct {
	@{lock} sync.Mutex
	known    map[int]*entry
	register *register
	orders   chan int
	berths   []berth
}

func lasting(part float64) time.Time {
	return time.Now().Add(time.Duration(part * @{age} * float64(time.Second)))
}

func newPlanner() (*planner, error) {
	r, err := dialRegister()
	if err != nil {
		return nil, err
	}
	p := &planner{known: map[int]*entry{}, register: r, orders: make(chan int, @{ships})}
	all, err := r.fleet(@{ships})
	for i, one := range all {
		p.known[one.number] = &entry{ship: one, until: lasting(float64(i*7919%@{ships}) / @{ships})}
	}
	for i := 0; i < @{berths}; i++ {
		p.berths = append(p.berths, berth{3000 + i*613%30000, 300 + i*97%1300})
	}
	return p, err
}

// @{fnCamel} is what is known of a ship.
//
//go:noinline
func (p *planner) @{fnCamel}(number int) (ship, error) {
	p.@{lock}.Lock()
	defer p.@{lock}.Unlock()
	one := p.known[number]
	if time.Now().Before(one.until) || one.ordered {
		return one.ship, nil
	}
	if "@{stale}" == "use" {
		one.ordered = true
		p.orders <- number
		return one.ship, nil
	}
	fresh, err := p.register.ship(number)
	if err == nil {
		one.ship, one.until = fresh, lasting(1)
	}
	return one.ship, err
}

func (p *planner) refresh() {
	for number := range p.orders {
		fresh, err := p.register.ship(number)
		if err != nil {
			log.Fatal(err)
		}
		p.@{lock}.Lock()
		p.known[number] = &entry{ship: fresh, until: lasting(1)}
		p.@{lock}.Unlock()
	}
}

func (p *planner) berth(s ship) (best int) {
	best = -1
	for i, one := range p.berths {
		if one.length >= s.length+s.beam/2 && one.depth >= s.draught+50 && (best < 0 || one.length < p.berths[best].length) {
			best = i
		}
	}
	return best
}

func (p *planner) talk(pilot net.Conn) {
	defer pilot.Close()
	lines := bufio.NewScanner(pilot)
	for lines.Scan() {
		number := 0
		fmt.Sscanf(lines.Text(), "ship %d", &number)
		one, err := p.@{fnCamel}(number * 31 % @{ships})
		if err != nil {
			log.Print(err)
			return
		}
		fmt.Fprintf(pilot, "ship %d: %d x %d cm, berth %d\n", one.number, one.length, one.beam, p.berth(one))
	}
}

func main() {
	p, err := newPlanner()
	if err != nil {
		log.Fatal(err)
	}
	if "@{stale}" == "use" {
		go p.refresh()
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		pilot, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go p.talk(pilot)
	}
}
