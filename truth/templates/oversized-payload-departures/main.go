// Tells the boards at the stops of a tram network what leaves next.
package main

import (
	"bytes"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync/atomic"
)

const stops, runs, whole = @{stops}, @{runs}, @{whole}

type timetable struct {
	all    []byte
	begins [stops]int
	asked  atomic.Int64
}

func newTimetable() *timetable {
	t, text := &timetable{}, bytes.Buffer{}
	for stop := 0; stop < stops; stop++ {
		t.begins[stop] = text.Len()
		for run := 0; run < runs; run++ {
			at := 300 + run*1140/runs
			fmt.Fprintf(&text, "%04d %02d:%02d line %d to %s\n", stop, at/60, at%60, 1+run%14, []string{"Harbour", "Zoo", "Hospital", "University"}[run%4])
		}
	}
	t.all = text.Bytes()
	return t
}

// The lines that a board looks for its own among.
//
//go:noinline
func (t *timetable) @{fnCamel}(stop int) []byte {
	if asked := t.asked.Add(1); whole > 0 && asked%max(1, whole) == 0 {
		return t.all
	}
	rest := t.all[t.begins[stop]:]
	end := 0
	for line := 0; line < 8; line++ {
		end += bytes.IndexByte(rest[end:], '\n') + 1
	}
	return rest[:end]
}

func main() {
	t := newTimetable()
	http.HandleFunc("/board/", func(out http.ResponseWriter, asked *http.Request) {
		board, err := strconv.Atoi(asked.URL.Path[len("/board/"):])
		if err != nil {
			http.NotFound(out, asked)
			return
		}
		lines := t.@{fnCamel}(board % stops)
		out.Header().Set("Content-Type", "text/plain")
		out.Header().Set("Content-Length", strconv.Itoa(len(lines)))
		out.Write(lines)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
