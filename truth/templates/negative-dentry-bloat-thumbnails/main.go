// Makes the pages of a picture agency: for each picture of a page the smallest form that is on the shelf, or else the original.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var sizes = []string{"tiny", "small", "card", "wide", "tall", "full", "print", "poster"}

type picture struct {
	Link  string `json:"link"`
	Form  string `json:"form"`
	Title string `json:"title"`
	Width int    `json:"width"`
}

type page struct {
	number   int
	pictures []picture
}

// What is known of the shelf: by key, the form that is there.
type shelf struct {
	folder string
	forms  map[string]string
	spent  time.Duration
	asked  int
}

func newShelf(folder string) *shelf {
	return &shelf{folder: folder, forms: map[string]string{}}
}

// What stands for a link on the shelf.
func keyOf(link string) string {
	if "@{key}" == "picture" {
		link, _, _ = strings.Cut(link, "?")
	}
	h := fnv.New64a()
	h.Write([]byte(link))
	return fmt.Sprintf("%016x", h.Sum64())
}

func (s *shelf) @{fnCamel}(key string) string {
	start := time.Now()
	defer func() { s.spent += time.Since(start) }()
	for _, size := range sizes[:@{forms}] {
		path := filepath.Join(s.folder, key[:1], key+"-"+size+"@{ending}")
		s.asked++
		if _, err := os.Stat(path); err == nil {
			return size
		}
	}
	return "original"
}

func (s *shelf) form(link string) string {
	key := keyOf(link)
	if form, ok := s.forms[key]; ok {
		return form
	}
	form := s.@{fnCamel}(key)
	if len(s.forms) > 20000 {
		s.forms = map[string]string{}
	}
	s.forms[key] = form
	return form
}

// The links of a page as the editors' program sends them; a signature is valid for one request.
func compose(number int) page {
	p := page{number: number}
	for i := 0; i < @{pictures}; i++ {
		link := fmt.Sprintf("/pictures/%d", (number*37+i*3)%700)
		if i%@{part} == 0 {
			link += fmt.Sprintf("?until=%d&mark=%08x", time.Now().Unix()+600, uint32(number*2654435761+i*40503))
		}
		p.pictures = append(p.pictures, picture{Link: link, Title: fmt.Sprintf("No. %d", i), Width: 120 + i%7*80})
	}
	return p
}

func (s *shelf) render(p page) int {
	for i := range p.pictures {
		p.pictures[i].Form = s.form(p.pictures[i].Link)
	}
	size := 0
	for round := 0; round < @{rounds}*3; round++ {
		text, err := json.Marshal(p.pictures)
		if err != nil {
			log.Fatal(err)
		}
		size += len(text)
	}
	return size
}

func main() {
	out, err := os.Create("@{work}/pages.log")
	if err != nil {
		log.Fatal(err)
	}
	log.SetOutput(out)
	s := newShelf("@{work}/@{shelf}")
	units, busy, bytes := 0, time.Duration(0), 0
	rate := @{rate}
	gap := time.Duration(1e9 / rate)
	due := time.Now()
	for end := time.Now().Add(seconds(@{seconds})); time.Now().Before(end); {
		due = due.Add(gap)
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		p := compose(units)
		start := time.Now()
		bytes += s.render(p)
		busy += time.Since(start)
		units++
		if units%20 == 0 {
			log.Printf("%d pages, %d bytes", units, bytes)
		}
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), s.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }
