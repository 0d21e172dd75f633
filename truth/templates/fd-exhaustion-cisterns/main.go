// The gateway of a water works: the gauges say their levels, and are told how far to open the valve.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type cistern struct {
	level, mean float64
	reports     int
}

type works struct {
	mutex    sync.Mutex
	cisterns map[string]*cistern
	journal  *bufio.Writer
	gauges   atomic.Int64
}

func (w *works) valve(name string, level float64) float64 {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	c := w.cisterns[name]
	if c == nil {
		c = &cistern{mean: level}
		w.cisterns[name] = c
	}
	c.level = level
	c.mean += (level - c.mean) / 16
	c.reports++
	fmt.Fprintf(w.journal, "%d %s %.0f %.1f\n", time.Now().Unix(), name, level, c.mean)
	return max(0, min(100, 50+(400-c.mean)/4))
}

func (w *works) listen(link net.Conn) {
	defer link.Close()
	defer w.gauges.Add(-1)
	if w.gauges.Add(1) > @{most} {
		fmt.Fprintln(link, "full, come again")
		return
	}
	lines := bufio.NewScanner(link)
	for lines.Scan() {
		var name string
		var level float64
		if _, err := fmt.Sscan(strings.TrimSpace(lines.Text()), &name, &level); err != nil {
			fmt.Fprintln(link, "what?")
			continue
		}
		fmt.Fprintf(link, "valve %.0f\n", w.valve(name, level))
	}
}

func (w *works) @{fnCamel}(door net.Listener) {
	failed := 0
	for {
		link, err := door.Accept()
		if err != nil {
			if failed%100 == 0 {
				log.Print(err)
			}
			failed++
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go w.listen(link)
	}
}

func main() {
	limit := syscall.Rlimit{Cur: @{limit}, Max: @{limit}}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Print(err)
	}
	journal, err := os.Create("@{work}/@{journal}")
	if err != nil {
		log.Fatal(err)
	}
	w := &works{cisterns: map[string]*cistern{}, journal: bufio.NewWriterSize(journal, 1<<16)}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	w.@{fnCamel}(door)
}
