// Gives out the berths of ferries: wishes are gathered for a round, and then those who wish the same deck get berths side by side.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How long a round is open, in milliseconds.
var hold = float64(@{hold})

type wish struct {
	ship, number int
	berth        chan int
}

type rounds struct {
	sync.Mutex
	open []*wish
	free [@{ships}]int
}

func (r *rounds) ask(w *wish) int {
	r.Lock()
	r.open = append(r.open, w)
	if len(r.open) == 1 {
		time.AfterFunc(time.Duration(hold*float64(time.Millisecond)), r.close)
	}
	r.Unlock()
	return <-w.berth
}

func (r *rounds) close() {
	r.Lock()
	defer r.Unlock()
	sort.Slice(r.open, func(i, j int) bool { return r.open[i].number%7 < r.open[j].number%7 })
	for _, w := range r.open {
		r.free[w.ship] = (r.free[w.ship] + 1) % @{berths}
		w.berth <- r.free[w.ship]
	}
	r.open = nil
}

func fields(in *bufio.Reader) (map[string]string, error) {
	size, err := in.ReadString(':')
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil || length > 1<<16 {
		return nil, fmt.Errorf("no SCGI: %q", size)
	}
	text := make([]byte, length+1)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	all, parts := map[string]string{}, strings.Split(string(text), "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		all[parts[i]] = parts[i+1]
	}
	return all, nil
}

//go:noinline
func @{fn}(to net.Conn, w *wish, berth int) error {
	if _, err := fmt.Fprintf(to, "Status: 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n", @{bytes}); err != nil {
		return err
	}
	var plan strings.Builder
	for place := 0; plan.Len() < @{bytes}; place = (place + 1) % @{berths} {
		mark := "."
		if place == berth {
			mark = "*"
		}
		fmt.Fprintf(&plan, "ship %d deck %d berth %d %s\n", w.ship, place%5, place, mark)
	}
	text := plan.String()[:@{bytes}]
	for len(text) > 0 {
		n := min(len(text), 16384)
		if _, err := io.WriteString(to, text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func serve(from net.Conn, r *rounds) {
	defer from.Close()
	all, err := fields(bufio.NewReader(from))
	if err != nil {
		log.Print(err)
		return
	}
	w := &wish{berth: make(chan int, 1)}
	if _, err := fmt.Sscanf(all["REQUEST_URI"], "/berths/%d/%d", &w.ship, &w.number); err != nil {
		fmt.Fprint(from, "Status: 404 Not Found\r\n\r\n")
		return
	}
	if err := @{fn}(from, w, r.ask(w)); err != nil {
		log.Print(err)
	}
}

func main() {
	gate, err := net.Listen("unix", "@{work}/@{gate}")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r := &rounds{}
	for {
		from, err := gate.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(from, r)
	}
}
