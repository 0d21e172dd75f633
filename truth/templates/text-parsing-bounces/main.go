// The watch of a mail provider: follows the logs of its relays, and counts the letters that were refused, by domain.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	shape = regexp.MustCompile(`^(\S+) (\S+) ([\w/]+)\[(\d+)\]: (\w+): (.*?) \((.*)\)$`)
	pair  = regexp.MustCompile(`(\w+)=(?:<([^>]*)>|([^,]*))(?:, )?`)

	markOf = []byte(" status=bounced ")
	toOf   = []byte(" to=<")
)

type record struct {
	when          time.Time
	host, service string
	process       int
	letter        string
	pairs         map[string]string
	delays        []float64
	answer        string
}

type sums struct {
	sync.Mutex
	refused map[string]int
	lines   int
	busy    time.Duration
	reading time.Duration
}

func recordOf(line string) (*record, error) {
	parts := shape.FindStringSubmatch(line)
	if parts == nil {
		return nil, fmt.Errorf("no line of a relay: %q", line)
	}
	when, err := time.Parse("2006-01-02T15:04:05.000-07:00", parts[1])
	if err != nil {
		return nil, err
	}
	made := &record{when: when, host: parts[2], service: parts[3], letter: parts[5], answer: parts[7], pairs: map[string]string{}}
	made.process, _ = strconv.Atoi(parts[4])
	for _, found := range pair.FindAllStringSubmatch(parts[6], -1) {
		made.pairs[found[1]] = found[2] + found[3]
	}
	for _, part := range strings.Split(made.pairs["delays"], "/") {
		delay, _ := strconv.ParseFloat(part, 64)
		made.delays = append(made.delays, delay)
	}
	return made, nil
}

// The domains of the letters that were refused, in whole lines.
func @{fnCamel}(piece []byte, refused func(domain string)) {
	if "@{way}" == "mark" {
		for {
			at := bytes.Index(piece, markOf)
			if at < 0 {
				return
			}
			line := piece[bytes.LastIndexByte(piece[:at], '\n')+1 : at]
			if to := bytes.Index(line, toOf); to >= 0 {
				address := line[to+len(toOf):]
				if end, sign := bytes.IndexByte(address, '>'), bytes.IndexByte(address, '@'); sign >= 0 && sign < end {
					refused(string(address[sign+1 : end]))
				}
			}
			piece = piece[at+len(markOf):]
		}
	}
	for _, line := range strings.Split(string(piece), "\n") {
		made, err := recordOf(line)
		if err != nil {
			log.Print(err)
			continue
		}
		if made.pairs["status"] == "bounced" {
			_, domain, _ := strings.Cut(made.pairs["to"], "@")
			refused(domain)
		}
	}
}

// Follows a log from its beginning on, and over to the next one when it is put aside.
func follow(path string, end time.Time, all *sums) {
	block := make([]byte, 1<<16)
	for time.Now().Before(end) {
		file, err := os.Open(path)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		var kept []byte
		for time.Now().Before(end) {
			start := time.Now()
			got, _ := file.Read(block)
			if got == 0 {
				if isAside(file, path) {
					break
				}
				time.Sleep(20 * time.Millisecond)
				continue
			}
			kept = append(kept, block[:got]...)
			last := bytes.LastIndexByte(kept, '\n')
			if last < 0 {
				continue
			}
			found := map[string]int{}
			before := time.Now()
			@{fnCamel}(kept[:last], func(domain string) { found[domain]++ })
			took := time.Since(before)
			lines := bytes.Count(kept[:last], []byte("\n")) + 1
			kept = append(kept[:0], kept[last+1:]...)

			all.Lock()
			for domain, count := range found {
				all.refused[domain] += count
			}
			all.lines += lines
			all.reading += took
			all.busy += time.Since(start)
			all.Unlock()
		}
		file.Close()
	}
}

func isAside(file *os.File, path string) bool {
	old, err := file.Stat()
	if err != nil {
		return true
	}
	current, err := os.Stat(path)
	return err != nil || !os.SameFile(old, current)
}

func main() {
	all := &sums{refused: map[string]int{}}
	length := time.Duration(@{seconds} * float64(time.Second))
	end := time.Now().Add(length)
	var followers sync.WaitGroup
	for relay := 1; relay <= @{relays}; relay++ {
		followers.Add(1)
		go func() {
			defer followers.Done()
			follow(fmt.Sprintf("@{work}/@{logs}/relay%d.log", relay), end, all)
		}()
	}
	followers.Wait()
	total := 0
	for _, count := range all.refused {
		total += count
	}
	fmt.Printf("%d letters refused, of %d domains\n", total, len(all.refused))
	report, err := json.Marshal(map[string]any{"units": all.lines, "seconds": all.busy.Seconds(), "culprit": all.reading.Seconds()})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("@{report}", report, 0o644); err != nil {
		log.Fatal(err)
	}
}
