// Keeps the protocol of a gymnastics meeting: marks come from tablets of the judges.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

type gymnast struct {
	number  int
	marks   [6]int
	notes   string
	version int
	row     []byte
}

func (g *gymnast) write() {
	total := 0
	for _, mark := range g.marks {
		total += mark
	}
	g.row = []byte(fmt.Sprintf("%d;%v;%d;%s\n", g.number, g.marks, total, g.notes))
}

type meeting struct {
	sync.Mutex
	all     []*gymnast
	latest  []*gymnast
	version int
}

func newMeeting() *meeting {
	m := &meeting{}
	for number := 0; number < @{gymnasts}; number++ {
		var notes strings.Builder
		for i := 0; notes.Len() < @{notes}; i++ {
			fmt.Fprintf(&notes, "element %d.%d minus %d,", number%17, i, (number+i*31)%9)
		}
		g := &gymnast{number: number, notes: notes.String()[:@{notes}]}
		g.write()
		m.all = append(m.all, g)
	}
	return m
}

func (m *meeting) mark(number, apparatus, mark int) {
	m.Lock()
	defer m.Unlock()
	g := m.all[number%len(m.all)]
	m.version++
	g.marks[apparatus%6], g.version = mark, m.version
	g.write()
	m.latest = append(m.latest, g)
}

//go:noinline
func (m *meeting) @{fn}(seen int) ([]byte, int) {
	m.Lock()
	defer m.Unlock()
	var text bytes.Buffer
	rows := m.all
	if seen >= 0 {
		rows = m.latest[min(seen, len(m.latest)):]
	}
	for _, g := range rows {
		text.Write(g.row)
	}
	return text.Bytes(), m.version
}

func answer(to http.ResponseWriter, text []byte, version int) {
	to.Header().Set("Content-Type", "text/csv")
	to.Header().Set("Content-Length", strconv.Itoa(len(text)))
	to.Header().Set("X-Version", strconv.Itoa(version))
	to.Write(text)
}

func main() {
	m := newMeeting()
	http.HandleFunc("/version", func(to http.ResponseWriter, from *http.Request) {
		_, version := m.@{fn}(1 << 40)
		answer(to, nil, version)
	})
	http.HandleFunc("/protocol.csv", func(to http.ResponseWriter, from *http.Request) {
		text, version := m.@{fn}(-1)
		answer(to, text, version)
	})
	http.HandleFunc("/marks", func(to http.ResponseWriter, from *http.Request) {
		number := func(name string) int {
			value, _ := strconv.Atoi(from.URL.Query().Get(name))
			return value
		}
		m.mark(number("gymnast"), number("apparatus"), number("mark"))
		seen := number("seen")
		if @{whole} == 1 {
			seen = -1
		}
		text, version := m.@{fn}(seen)
		answer(to, text, version)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
