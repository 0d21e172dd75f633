// Books the pickups of a shipper's parcels with the courier: a desk for each hall.
package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"sync"
	"time"
)

const api = "http://127.0.0.1:@{port}/@{topic}"

type pickup struct {
	Number  int     `json:"number"`
	Depot   int     `json:"depot"`
	Parcels int     `json:"parcels"`
	Weight  float64 `json:"weight"`
	Label   string  `json:"label"`
	tries   int
	due     time.Time
}

type tally struct {
	sync.Mutex
	units       int
	busy, again time.Duration
}

type desk struct {
	hall   int
	client *http.Client
	later  []*pickup
	out    *log.Logger
	all    *tally
}

// Weighs the parcels of a pickup and makes its label.
func prepare(number int) *pickup {
	p := &pickup{Number: number, Depot: number % 4, Parcels: 3 + number%17}
	sum := []byte(fmt.Sprint("pickup ", number))
	for round := 0; round < @{rounds}*8; round++ {
		one := sha1.Sum(sum)
		sum = one[:]
		p.Weight += float64(sum[0]) / 100
	}
	p.Label = fmt.Sprintf("%x", sum)
	return p
}

func (d *desk) @{fnCamel}(p *pickup) (bool, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return false, err
	}
	request, err := http.NewRequest("PUT", fmt.Sprintf("%s/%d", api, p.Number), bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := d.client.Do(request)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode == http.StatusCreated, err
}

// Books a pickup, or leaves it for later.
func (d *desk) book(p *pickup) {
	start := time.Now()
	done, err := d.@{fnCamel}(p)
	first := time.Now()
	for n := 0; !done && err == nil && n < @{again}; n++ {
		done, err = d.@{fnCamel}(p)
	}
	if err != nil {
		log.Fatal(err)
	}
	d.all.Lock()
	defer d.all.Unlock()
	d.all.busy += time.Since(start)
	d.all.again += time.Since(first)
	if !done {
		wait := math.Min(2, @{first}*math.Pow(1.6, float64(p.tries))) * (0.8 + 0.4*float64(p.Number%10)/10)
		p.tries++
		p.due = time.Now().Add(time.Duration(wait * float64(time.Second)))
		d.later = append(d.later, p)
		return
	}
	d.all.units++
	d.out.Printf("hall %d: %d booked at depot %d, %.1f kg", d.hall, p.Number, p.Depot, p.Weight)
}

func (d *desk) work(end time.Time) {
	began := time.Now()
	for n := 0; time.Now().Before(end); n++ {
		for i := 0; i < len(d.later); i++ {
			if p := d.later[i]; p.due.Before(time.Now()) {
				d.later = append(d.later[:i], d.later[i+1:]...)
				i--
				d.book(p)
			}
		}
		start := time.Now()
		p := prepare(n*@{workers} + d.hall)
		d.all.Lock()
		d.all.busy += time.Since(start)
		d.all.Unlock()
		d.book(p)
		time.Sleep(time.Until(began.Add(time.Duration(float64(n+1) / @{rate} * float64(time.Second)))))
	}
}

// What the wall of the yard shows.
func watch(pause time.Duration) {
	for {
		if answer, err := http.Get(api + "/today"); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		time.Sleep(pause)
	}
}

func main() {
	file, err := os.Create("@{work}/desk.log")
	if err != nil {
		log.Fatal(err)
	}
	all, out := &tally{}, log.New(file, "", log.LstdFlags)
	end := time.Now().Add(time.Duration(@{seconds} * float64(time.Second)))
	if @{board} > 0 {
		go watch(@{board} * time.Millisecond)
	}
	var desks sync.WaitGroup
	for hall := 0; hall < @{workers}; hall++ {
		desks.Add(1)
		go func(hall int) {
			defer desks.Done()
			(&desk{hall: hall, client: &http.Client{Transport: &http.Transport{}}, out: out, all: all}).work(end)
		}(hall)
	}
	desks.Wait()
	text, _ := json.Marshal(map[string]any{"units": all.units, "seconds": all.busy.Seconds(), "culprit": all.again.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
