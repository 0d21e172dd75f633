// The recorder of the lightships: each watch's entry is put together, summed, and handed to the archivist; entries that it does not take are kept for later.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

var archivists = []string{"@{work}/@{first}", "@{work}/@{socket}"}

type recorder struct {
	line    net.Conn
	answers *bufio.Reader
	later   []string
	handed  int
	spent   time.Duration
}

//go:noinline
func (r *recorder) @{fnCamel}() error {
	if r.line != nil {
		return nil
	}
	var err error
	for try := 0; try < @{tries}; try++ {
		for _, path := range archivists {
			var line net.Conn
			if line, err = net.Dial("unix", path); err == nil {
				r.line, r.answers = line, bufio.NewReader(line)
				return nil
			}
		}
	}
	return err
}

func (r *recorder) hand(entry string) error {
	start := time.Now()
	err := r.@{fnCamel}()
	r.spent += time.Since(start)
	if err != nil {
		r.later = append(r.later, entry)
		if len(r.later) > 200 {
			r.later = r.later[1:]
		}
		return err
	}
	if _, err = fmt.Fprintln(r.line, entry); err == nil {
		_, err = r.answers.ReadString('\n')
	}
	r.handed++
	if err != nil || r.handed%@{renew} == 0 {
		r.line.Close()
		r.line = nil
	}
	return err
}

// What the watch noted: light, fog signal, and ships in sight.
func entry(watch int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "watch=%d ship=%d", watch, watch%7)
	for i := 0; i < @{fields}; i++ {
		fmt.Fprintf(&text, " sight%d=%d", i, (watch*31+i*17)%360)
	}
	return fmt.Sprintf("%s sum=%x", text.String(), sha256.Sum256([]byte(text.String())))
}

func main() {
	r := &recorder{}
	var busy time.Duration
	units, missed := 0, 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := r.hand(entry(units)); err != nil {
			missed++
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	log.Printf("%d entries, %d not handed over", units, missed)
	report, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": r.spent.Seconds()})
	if err := os.WriteFile("@{report}", report, 0o644); err != nil {
		log.Fatal(err)
	}
}
