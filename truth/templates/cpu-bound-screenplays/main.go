// Serves the plays of a theatre with marks: who speaks, who enters and leaves, and where in the text that is.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

type mark struct {
	Kind   string `json:"kind"`
	Who    string `json:"who"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

type script struct {
	title string
	text  string
	// Where each line begins; empty where nobody asked for it.
	starts []int
}

var pattern = regexp.MustCompile(`(?m)^([A-Z]+): |\[([A-Z]+) (?:enters|leaves)\]`)

func open(path string) (*script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &script{title: filepath.Base(path), text: string(text)}
	if "@{places}" == "table" {
		s.starts = append(s.starts, 0)
		for at, letter := range text {
			if letter == '\n' {
				s.starts = append(s.starts, at+1)
			}
		}
	}
	return s, nil
}

//go:noinline
func (s *script) @{fnCamel}(at int) (int, int) {
	if s.starts != nil {
		line := sort.SearchInts(s.starts, at+1)
		return line, at - s.starts[line-1] + 1
	}
	line, column := 1, 1
	for i := 0; i < at; i++ {
		if s.text[i] == '\n' {
			line, column = line+1, 1
		} else {
			column++
		}
	}
	return line, column
}

func (s *script) marks() []mark {
	var found []mark
	for _, where := range pattern.FindAllStringSubmatchIndex(s.text, -1) {
		line, column := s.@{fnCamel}(where[0])
		if where[2] >= 0 {
			found = append(found, mark{"speaks", s.text[where[2]:where[3]], line, column})
		} else {
			found = append(found, mark{"moves", s.text[where[4]:where[5]], line, column})
		}
	}
	return found
}

func main() {
	paths, err := filepath.Glob("@{work}/@{plays}/play-*.txt")
	if err != nil || len(paths) == 0 {
		log.Fatal("no plays: ", err)
	}
	scripts := make([]*script, len(paths))
	for i, path := range paths {
		if scripts[i], err = open(path); err != nil {
			log.Fatal(err)
		}
	}
	http.HandleFunc("/plays/", func(answer http.ResponseWriter, question *http.Request) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(question.URL.Path, "/plays/"), "/")
		number, err := strconv.Atoi(name)
		if err != nil || rest != "marks" {
			http.Error(answer, "which play?", http.StatusBadRequest)
			return
		}
		s := scripts[number%len(scripts)]
		marks := s.marks()
		body, err := json.Marshal(map[string]any{"title": s.title, "count": len(marks), "marks": marks[:min(len(marks), 200)]})
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		answer.Header().Set("Content-Type", "application/json")
		answer.Header().Set("Content-Length", fmt.Sprint(len(body)))
		answer.Write(body)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
