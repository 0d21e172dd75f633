// The star catalogue of an observatory, for its telescopes: GET /stars/N says where a star is.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
)

const (
	record = 64
	piece  = @{piece}
)

type catalogue struct {
	file  *os.File
	count int
	held  []byte
}

func (c *catalogue) find(name string) ([]byte, error) {
	if c.held == nil {
		return c.@{fnCamel}([]byte(name))
	}
	// They are in the order of their names.
	at := sort.Search(c.count, func(i int) bool { return string(c.held[i*record:i*record+len(name)]) >= name })
	if at == c.count {
		return nil, os.ErrNotExist
	}
	return c.held[at*record : (at+1)*record], nil
}

//go:noinline
func (c *catalogue) @{fnCamel}(name []byte) ([]byte, error) {
	stars := io.NewSectionReader(c.file, 0, int64(c.count)*record)
	part := make([]byte, piece)
	for {
		n, err := io.ReadFull(stars, part)
		if at := bytes.Index(part[:n], name); at >= 0 {
			return part[at : at+record], nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, os.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
	}
}

type star struct {
	Name  string  `json:"name"`
	RA    float64 `json:"ra"`
	Dec   float64 `json:"dec"`
	Mag   float64 `json:"mag"`
	Plx   float64 `json:"plx"`
	Class string  `json:"class"`
}

func (c *catalogue) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	number, err := strconv.Atoi(strings.TrimPrefix(request.URL.Path, "/stars/"))
	if err != nil {
		http.Error(answer, "which star?", http.StatusBadRequest)
		return
	}
	// The stars of the programme are all over the sky.
	found, err := c.find(fmt.Sprintf("HX%09d", number*104729%c.count*3+3))
	if err != nil {
		http.Error(answer, err.Error(), http.StatusNotFound)
		return
	}
	var s star
	if _, err := fmt.Sscan(string(found), &s.Name, &s.RA, &s.Dec, &s.Mag, &s.Plx, &s.Class); err != nil {
		http.Error(answer, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	json.NewEncoder(answer).Encode(s)
}

func main() {
	file, err := os.Open("@{work}/@{folder}/@{catalogue}")
	if err != nil {
		log.Fatal(err)
	}
	about, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	c := &catalogue{file: file, count: int(about.Size() / record)}
	if @{held} == 1 {
		if c.held, err = io.ReadAll(file); err != nil {
			log.Fatal(err)
		}
	}
	http.Handle("/stars/", c)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
