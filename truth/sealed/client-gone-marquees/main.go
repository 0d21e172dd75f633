// The programme of a fair: which act comes next in which tent.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math/rand"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

type tent struct {
	sync.Mutex
	version int
	acts    []string
	changed chan struct{}
}

func (t *tent) change() {
	t.Lock()
	defer t.Unlock()
	t.version++
	t.acts = append(t.acts, fmt.Sprintf("act %d at %02d:%02d", t.version, 10+t.version%12, t.version*5%60))
	if len(t.acts) > 12 {
		t.acts = t.acts[1:]
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *tent) since(seen int, hold time.Duration) (int, []string) {
	t.Lock()
	changed := t.changed
	newer := t.version > seen && seen > 0
	t.Unlock()
	if !newer {
		select {
		case <-changed:
		case <-time.After(hold):
		}
	}
	t.Lock()
	defer t.Unlock()
	count := min(len(t.acts), max(0, t.version-seen))
	return t.version, append([]string(nil), t.acts[len(t.acts)-count:]...)
}

// How long a display may be kept waiting, in seconds.
var hold = @{hold}

type fair struct{ tents []*tent }

func (f *fair) @{fnCamel}(display net.Conn, words []string) error {
	number, _ := strconv.Atoi(words[1])
	seen, _ := strconv.Atoi(words[2])
	version, acts := f.tents[number%len(f.tents)].since(seen, time.Duration(hold*float64(time.Second)))
	if _, err := fmt.Fprintf(display, "acts %d %d\n", len(acts), version); err != nil {
		return err
	}
	text := strings.Join(append(acts, ""), "\n")
	if len(acts) == 0 {
		// Keeps the line open.
		text = ""
	}
	_, err := display.Write([]byte(text + "\n"))
	return err
}

func (f *fair) serve(display net.Conn) {
	defer display.Close()
	lines := bufio.NewScanner(display)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || words[0] != "@{verb}" {
			continue
		}
		if err := f.@{fnCamel}(display, words); err != nil {
			return
		}
	}
}

func main() {
	f := &fair{}
	for i := 0; i < @{tents}; i++ {
		t := &tent{changed: make(chan struct{})}
		f.tents = append(f.tents, t)
		go func() {
			for {
				time.Sleep(time.Duration(@{change_s} * (0.7 + 0.6*rand.Float64()) * float64(time.Second)))
				t.change()
			}
		}()
	}
	server, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		display, err := server.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go f.serve(display)
	}
}
