// Intake of a blood bank: a session's bags are entered in the register and get their numbers.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path"
	"strings"
	"time"
)

type bag struct {
	session, group, millilitres string
	number                      chan int
}

type register struct {
	file   *os.File
	last   int
	behind int
	desk   chan bag
}

//go:noinline
func (r *register) @{fnCamel}(b bag) error {
	r.last++
	if _, err := fmt.Fprintf(r.file, "%09d;%s;%s;%s;%s\n", r.last, b.session, b.group, b.millilitres, strings.Repeat("-", @{remark})); err != nil {
		return err
	}
	r.behind++
	if r.behind == @{every} {
		return r.settle()
	}
	return nil
}

func (r *register) settle() error {
	if r.behind == 0 {
		return nil
	}
	r.behind = 0
	return r.file.Sync()
}

func (r *register) keep() {
	clock := time.NewTicker(time.Duration(@{period} * float64(time.Second)))
	for {
		var err error
		select {
		case b := <-r.desk:
			if err = r.@{fnCamel}(b); err == nil {
				b.number <- r.last
			}
		case <-clock.C:
			if @{every} == 0 {
				err = r.settle()
			}
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func (r *register) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(io.LimitReader(request.Body, 1<<16))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	lines := strings.Split(string(body), ",")
	numbers, answers := make(chan int, len(lines)), make([]int, 0, len(lines))
	for _, line := range lines {
		group, millilitres, _ := strings.Cut(line, " ")
		r.desk <- bag{path.Base(request.URL.Path), group, millilitres, numbers}
	}
	for range lines {
		answers = append(answers, <-numbers)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"session": path.Base(request.URL.Path), "bags": answers})
}

func main() {
	file, err := os.OpenFile("@{work}/@{register}", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	r := &register{file: file, desk: make(chan bag, 256)}
	go r.keep()
	http.Handle("/sessions/", r)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
