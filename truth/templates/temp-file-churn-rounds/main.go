// Plans the rounds of a waste collection: the bins that are full, in the order of the streets.
package main

import (
	"bufio"
	"container/heap"
	"fmt"
	"log"
	"net"
	"os"
	"sort"
	"strings"
	"time"
)

const scratch = "@{work}/@{scratch}"

// sorter sorts lines; those beyond its limit go to files until they are asked for.
type sorter struct {
	limit int
	lines []string
	runs  []*os.File
}

func (s *sorter) add(line string) error {
	s.lines = append(s.lines, line)
	if len(s.lines) >= s.limit {
		return s.@{fnCamel}()
	}
	return nil
}

func (s *sorter) @{fnCamel}() error {
	sort.Strings(s.lines)
	file, err := os.CreateTemp(scratch, "@{prefix}*")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 16384)
	for _, line := range s.lines {
		out.WriteString(line)
		out.WriteByte('\n')
	}
	s.lines = s.lines[:0]
	s.runs = append(s.runs, file)
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = file.Seek(0, 0)
	return err
}

type source struct {
	lines *bufio.Scanner
	head  string
}

type sources []*source

func (s sources) Len() int           { return len(s) }
func (s sources) Less(i, j int) bool { return s[i].head < s[j].head }
func (s sources) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sources) Push(one any)      { *s = append(*s, one.(*source)) }
func (s *sources) Pop() any {
	last := len(*s) - 1
	one := (*s)[last]
	*s = (*s)[:last]
	return one
}

// each gives all lines in their order.
func (s *sorter) each(visit func(string)) {
	sort.Strings(s.lines)
	if len(s.runs) == 0 {
		for _, line := range s.lines {
			visit(line)
		}
		return
	}
	all := sources{}
	rest := &source{lines: bufio.NewScanner(strings.NewReader(strings.Join(s.lines, "\n")))}
	for _, one := range append([]*source{rest}, s.opened()...) {
		if one.lines.Scan() {
			one.head = one.lines.Text()
			all = append(all, one)
		}
	}
	for heap.Init(&all); len(all) > 0; {
		visit(all[0].head)
		if all[0].lines.Scan() {
			all[0].head = all[0].lines.Text()
			heap.Fix(&all, 0)
		} else {
			heap.Pop(&all)
		}
	}
}

func (s *sorter) opened() (all []*source) {
	for _, run := range s.runs {
		all = append(all, &source{lines: bufio.NewScanner(run)})
	}
	return all
}

func (s *sorter) close() {
	for _, run := range s.runs {
		run.Close()
		os.Remove(run.Name())
	}
}

// bin is a line of the register: street, house, what is in it, and how full it is.
func bin(round, i int) string {
	mixed := uint32(round*7919+i) * 2654435761
	return fmt.Sprintf("street %04d house %03d bin %05d %02d%% full", mixed>>20, mixed>>8&255, i, mixed%100)
}

func plan(round, bins, limit int) (string, error) {
	s := &sorter{limit: limit}
	defer s.close()
	for i := 0; i < bins; i++ {
		if err := s.add(bin(round, i)); err != nil {
			return "", err
		}
	}
	stops, first, last := 0, "", ""
	s.each(func(line string) {
		if first == "" {
			first = line
		}
		if street := line[:11]; street != last {
			stops, last = stops+1, street
		}
	})
	return fmt.Sprintf("%d streets, first %s", stops, first), nil
}

func talk(depot net.Conn) {
	defer depot.Close()
	lines := bufio.NewScanner(depot)
	for lines.Scan() {
		number := 0
		fmt.Sscanf(lines.Text(), "round %d", &number)
		told, err := plan(number, @{bins}, @{most})
		if err != nil {
			log.Print(err)
		}
		fmt.Fprintf(depot, "round %d: %s\n", number, told)
	}
}

func main() {
	if period := float64(@{year}); period > 0 {
		go func() {
			for year := 2000; ; year++ {
				time.Sleep(time.Duration(period * float64(time.Second)))
				if _, err := plan(year, 20000, 8000); err != nil {
					log.Print(err)
				}
			}
		}()
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		depot, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go talk(depot)
	}
}
