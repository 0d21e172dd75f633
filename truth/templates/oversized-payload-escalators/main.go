// The service of who keeps the escalators of the stations running: their states for the boards, and the manuals for the mechanics.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

var stations = []string{"Hauptbahnhof", "Ostkreuz", "Rathaus", "Messe", "Flughafen", "Zoo", "Hafen"}

type escalator struct {
	number, region, starts int
	runs                   bool
	shown, kept            string
}

func (e *escalator) set(runs bool) {
	e.runs = runs
	e.starts++
	state := "runs"
	if !runs {
		state = "stands"
	}
	e.shown = fmt.Sprintf(`"number":%d,"station":"%s %d","state":"%s","starts":%d`, e.number, stations[e.number%len(stations)], e.number%310, state, e.starts)
}

type register struct {
	sync.RWMutex
	all  []*escalator
	turn int
}

func newRegister(count int) *register {
	r := &register{}
	for number := 0; number < count; number++ {
		var tremors []string
		for hour := 0; hour < @{hours}; hour++ {
			tremors = append(tremors, strconv.FormatFloat(float64((number*7919+hour*104729)%9973)/1000, 'f', 3, 64))
		}
		one := &escalator{number: number, region: number % 16, starts: number * 31 % 9000}
		one.kept = fmt.Sprintf(`"tremors":[%s],"machine":{"type":"e%d","steps":%d,"rise":%d}`, strings.Join(tremors, ","), number%4, 60+number%40, 4+number%9)
		one.set(true)
		r.all = append(r.all, one)
	}
	return r
}

// heard takes what the machines have told since the last time.
func (r *register) heard() {
	r.Lock()
	defer r.Unlock()
	for i := 0; i < 40; i++ {
		r.turn = (r.turn + 977) % len(r.all)
		one := r.all[r.turn]
		one.set(!(one.runs && r.turn%5 == 0))
	}
}

//go:noinline
func (r *register) @{fnCamel}(region, page int, text *bytes.Buffer) {
	r.RLock()
	defer r.RUnlock()
	var stands, others []*escalator
	for _, one := range r.all {
		if one.region == region && one.runs {
			others = append(others, one)
		} else if one.region == region {
			stands = append(stands, one)
		}
	}
	fmt.Fprintf(text, `{"stands":%d,"escalators":[`, len(stands))
	if @{whole} == 1 {
		for i, one := range r.all {
			if i > 0 {
				text.WriteString(",\n")
			}
			text.WriteString("{" + one.shown + `,"region":` + strconv.Itoa(one.region) + ",")
			text.WriteString(one.kept)
			text.WriteString("}")
		}
	} else {
		rows := append(stands, others...)
		from := min((page-1)*@{page}, len(rows))
		for i, one := range rows[from:min(from+@{page}, len(rows))] {
			if i > 0 {
				text.WriteString(",\n")
			}
			text.WriteString("{" + one.shown + "}")
		}
	}
	text.WriteString("]}")
}

func number(request *http.Request, name string, other int) int {
	if value, err := strconv.Atoi(request.URL.Query().Get(name)); err == nil && value >= 0 {
		return value
	}
	return other
}

func main() {
	all := newRegister(@{escalators})
	go func() {
		for range time.Tick(250 * time.Millisecond) {
			all.heard()
		}
	}()
	buffers := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	http.HandleFunc("/escalators", func(answer http.ResponseWriter, request *http.Request) {
		text := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(text)
		text.Reset()
		all.@{fnCamel}(number(request, "region", 0)%16, max(1, number(request, "page", 1)), text)
		answer.Header().Set("Content-Type", "application/json")
		answer.Header().Set("Content-Length", strconv.Itoa(text.Len()))
		answer.Write(text.Bytes())
	})
	http.HandleFunc("/manuals/", func(answer http.ResponseWriter, request *http.Request) {
		machine, _ := strconv.Atoi(strings.Trim(filepath.Base(request.URL.Path), "e.pdf"))
		file, err := os.Open(filepath.Join(os.Args[1], fmt.Sprintf("type-%d.pdf", machine%4)))
		if err != nil {
			http.NotFound(answer, request)
			return
		}
		defer file.Close()
		http.ServeContent(answer, request, "manual.pdf", time.Time{}, file)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
