// Accounts of a library's readers: what they have at home, what it costs them, what they might like next.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	catalogue = "http://127.0.0.1:@{store}"
	today     = 20031
)

type title struct {
	ID     int    `json:"id"`
	Author string `json:"author"`
	Name   string `json:"name"`
	Due    int    `json:"due"`
	Daily  int    `json:"daily"`
	Shelf  string `json:"shelf"`
}

type account struct {
	Reader int     `json:"reader"`
	Titles []title `json:"titles"`
	Fine   int     `json:"fine"`
	Shelf  int     `json:"next_shelf"`
}

type library struct {
	client *http.Client
	tastes [][16]float64
}

func newLibrary() *library {
	l := &library{client: &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 16},
	}}
	for shelf := 0; shelf < 2000; shelf++ {
		var taste [16]float64
		for i := range taste {
			taste[i] = math.Sin(float64(shelf*31 + i*7))
		}
		l.tastes = append(l.tastes, taste)
	}
	return l
}

func (l *library) get(path string, into any) error {
	answer, err := l.client.Get(catalogue + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("catalogue: %s: %s", path, answer.Status)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

//go:noinline
func (l *library) @{fnCamel}(loans []int) ([]title, error) {
	titles := make([]title, 0, len(loans))
	if "@{ask}" == "list" {
		ids := make([]string, len(loans))
		for i, id := range loans {
			ids[i] = strconv.Itoa(id)
		}
		return titles, l.get("/titles?ids="+strings.Join(ids, ","), &titles)
	}
	for _, id := range loans {
		var one title
		if err := l.get("/titles/"+strconv.Itoa(id), &one); err != nil {
			return nil, err
		}
		titles = append(titles, one)
	}
	return titles, nil
}

// What is overdue costs by the day, and never more than the book.
func fine(titles []title) int {
	sum := 0
	for _, one := range titles {
		sum += min(max(0, today-one.Due)*one.Daily, 1200)
	}
	return sum
}

// The shelf that is nearest to what the reader took before.
func (l *library) nextShelf(titles []title) int {
	best, nearest := -1, math.Inf(1)
	for round := 0; round < @{effort}; round++ {
		for shelf, taste := range l.tastes {
			far := 0.0
			for _, one := range titles[:min(4, len(titles))] {
				for i, weight := range taste {
					far += math.Abs(weight - l.tastes[(one.ID+round)%len(l.tastes)][i])
				}
			}
			if far < nearest {
				best, nearest = shelf, far
			}
		}
	}
	return best
}

func (l *library) account(answer http.ResponseWriter, request *http.Request) {
	reader, err := strconv.Atoi(strings.Split(request.URL.Path, "/")[2])
	if err != nil {
		http.Error(answer, "no such reader", http.StatusNotFound)
		return
	}
	var home struct {
		Loans []int `json:"loans"`
	}
	if err := l.get("/readers/"+strconv.Itoa(reader), &home); err != nil {
		http.Error(answer, err.Error(), http.StatusBadGateway)
		return
	}
	titles, err := l.@{fnCamel}(home.Loans)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadGateway)
		return
	}
	answer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(answer).Encode(account{reader, titles, fine(titles), l.nextShelf(titles)})
}

func main() {
	l := newLibrary()
	http.HandleFunc("/readers/", l.account)
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
