// Plans the concerts of an orchestra.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

type rights struct {
	Work   int    `json:"work"`
	Holder string `json:"holder"`
	Cents  int    `json:"cents"`
}

// society is a member's line to the society of rights.
type society struct {
	client http.Client
}

func enter() (*society, error) {
	s := &society{http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}, Timeout: 10 * time.Second}}
	_, err := s.get("session/orchestra-17")
	return s, err
}

func (s *society) get(path string) ([]byte, error) {
	answer, err := s.client.Get("http://127.0.0.1:@{society}/" + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func (s *society) leave() { s.client.CloseIdleConnections() }

func (p *planner) @{fnCamel}(work int) (told rights, err error) {
	start := time.Now()
	defer func() { p.took += time.Since(start) }()
	s := p.society
	if s == nil {
		if s, err = enter(); err != nil {
			return told, err
		}
	}
	if "@{line}" == "work" {
		defer s.leave()
	} else {
		p.society = s
	}
	body, err := s.get(fmt.Sprintf("works/%d", work))
	if err != nil {
		return told, err
	}
	return told, json.Unmarshal(body, &told)
}

type piece struct {
	Work, Minutes, Cents int
}

type planner struct {
	society *society
	units   int
	busy    time.Duration
	took    time.Duration
}

func (p *planner) plan(number int) ([]byte, error) {
	var programme []piece
	for place := 0; place < @{works}; place++ {
		one := piece{Work: number*31 + place*7}
		one.Minutes = 4 + one.Work%40
		if (number*@{works}+place)%@{free} == 0 {
			told, err := p.@{fnCamel}(one.Work)
			if err != nil {
				return nil, err
			}
			one.Cents = told.Cents
		}
		programme = append(programme, one)
	}
	sort.Slice(programme, func(a, b int) bool { return programme[a].Minutes < programme[b].Minutes })
	return json.Marshal(programme)
}

func (p *planner) work(concerts <-chan int, done *sync.WaitGroup) {
	defer done.Done()
	for number := range concerts {
		start := time.Now()
		if _, err := p.plan(number); err != nil {
			log.Print(err)
		}
		p.units++
		p.busy += time.Since(start)
	}
}

func main() {
	concerts := make(chan int, 4)
	var done sync.WaitGroup
	var planners []*planner
	for i := 0; i < @{planners}; i++ {
		p := &planner{}
		planners = append(planners, p)
		done.Add(1)
		go p.work(concerts, &done)
	}
	began := time.Now()
	for number := 1; time.Since(began).Seconds() < @{seconds}; number++ {
		concerts <- number
		time.Sleep(time.Until(began.Add(time.Duration(float64(number) / @{rate} * 1e9))))
	}
	close(concerts)
	done.Wait()
	units, busy, took := 0, 0.0, 0.0
	for _, p := range planners {
		units += p.units
		busy += p.busy.Seconds()
		took += p.took.Seconds()
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %.6f, "culprit": %.6f}`, units, busy, took)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
