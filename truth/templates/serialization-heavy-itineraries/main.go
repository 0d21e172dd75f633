// Tours of an operator: says what a change of a stop would cost. The change is tried on a draft, the tour stays as it is.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net"
	"strconv"
	"strings"
)

type Place struct {
	Name      string  `json:"name"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

type Stop struct {
	Place   Place             `json:"place"`
	Minutes int               `json:"minutes"`
	Cents   int               `json:"cents"`
	Notes   map[string]string `json:"notes"`
}

type Day struct {
	Stops []Stop `json:"stops"`
}

type Tour struct {
	Title string `json:"title"`
	Days  []Day  `json:"days"`
}

func newStop(number int) Stop {
	return Stop{
		Place:   Place{fmt.Sprintf("place-%d %s", number, strings.Repeat("x", @{text})), 46 + float64(number*37%900)/100, 6 + float64(number*53%1100)/100},
		Minutes: 20 + number%70,
		Cents:   300 + number*131%4000,
		Notes:   map[string]string{"guide": fmt.Sprintf("guide-%d", number%17)},
	}
}

func newTour(days int) Tour {
	tour := Tour{Title: "lakes and towns"}
	for d := 0; d < days; d++ {
		var day Day
		for s := 0; s < @{stops}; s++ {
			day.Stops = append(day.Stops, newStop(d*100+s))
		}
		tour.Days = append(tour.Days, day)
	}
	return tour
}

func kilometres(from, to Place) float64 {
	const degree = math.Pi / 180
	a, b, c := from.Latitude*degree, to.Latitude*degree, (to.Longitude-from.Longitude)*degree
	return 6371 * math.Acos(math.Min(1, math.Sin(a)*math.Sin(b)+math.Cos(a)*math.Cos(b)*math.Cos(c)))
}

// Each day's order of stops, going on to the next one that is nearest; a bus, and the tickets.
func (t *Tour) cost() int {
	way, cents := 0.0, 0
	for _, day := range t.Days {
		left := append([]Stop(nil), day.Stops[1:]...)
		at := day.Stops[0].Place
		for len(left) > 0 {
			best, nearest := 0, math.MaxFloat64
			for i := range left {
				if here := kilometres(at, left[i].Place); here < nearest {
					best, nearest = i, here
				}
			}
			way += nearest
			cents += left[best].Cents
			at = left[best].Place
			left = append(left[:best], left[best+1:]...)
		}
	}
	return cents + int(way*90)
}

//go:noinline
func @{fnCamel}(from *Tour, day int) (*Tour, error) {
	if "@{copy}" == "day" {
		draft := &Tour{Title: from.Title, Days: append([]Day(nil), from.Days...)}
		draft.Days[day].Stops = append([]Stop(nil), from.Days[day].Stops...)
		return draft, nil
	}
	text, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	draft := &Tour{}
	return draft, json.Unmarshal(text, draft)
}

func change(tour *Tour, number int) (string, error) {
	day := number % len(tour.Days)
	draft, err := @{fnCamel}(tour, day)
	if err != nil {
		return "", err
	}
	draft.Days[day].Stops[number%@{stops}] = newStop(number * 7919 % 100003)
	cents := draft.cost()
	return fmt.Sprintf("tour %d.%02d, day %d\n", cents/100, cents%100, day+1), nil
}

func serve(agent net.Conn, tour *Tour) {
	defer agent.Close()
	lines := bufio.NewScanner(agent)
	for lines.Scan() {
		_, word, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.Atoi(word)
		if err != nil {
			return
		}
		answer, err := change(tour, number)
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := agent.Write([]byte(answer)); err != nil {
			return
		}
	}
}

func main() {
	tour := newTour(@{days})
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		agent, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(agent, &tour)
	}
}
