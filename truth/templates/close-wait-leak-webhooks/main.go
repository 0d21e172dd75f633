// Tells subscribers of what has happened: one POST for each event and hook.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

var began = time.Now()

func now() float64 { return time.Since(began).Seconds() }

type sender struct {
	client  *http.Client
	refused chan *http.Response
	sync.Mutex
	units, gone int
	busy        float64
}

func (s *sender) sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte("shared secret"))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

//go:noinline
func (s *sender) @{fnCamel}(hook int, body []byte) error {
	request, err := http.NewRequest("POST", fmt.Sprintf("http://127.0.0.1:@{port}/hooks/%d", hook), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Signature", s.sign(body))
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		switch "@{mode}" {
		case "close":
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		case "later":
			s.refused <- answer
		}
		return fmt.Errorf("hook %d: %s", hook, answer.Status)
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

func (s *sender) work(number int) {
	event := bytes.Repeat([]byte(`{"order":7,"state":"paid"},`), @{bytes}/27+1)
	limit := float64(@{seconds})
	for n := 1; now() < limit; n++ {
		start := now()
		err := s.@{fnCamel}(number*1000+n%40, event[:@{bytes}])
		s.Lock()
		s.units++
		s.busy += now() - start
		if err != nil {
			s.gone++
		}
		s.Unlock()
		time.Sleep(time.Duration((float64(n)/@{rate} - now()) * 1e9))
	}
}

// The log of refusals says why, in one go.
func (s *sender) explain() {
	patience := float64(@{patience})
	for {
		time.Sleep(time.Duration(patience * 1e9))
		for n := len(s.refused); n > 0; n-- {
			answer := <-s.refused
			io.ReadAll(io.LimitReader(answer.Body, 4000))
			answer.Body.Close()
		}
	}
}

func main() {
	transport := &http.Transport{MaxIdleConnsPerHost: @{workers}, ResponseHeaderTimeout: 20 * time.Second}
	s := &sender{client: &http.Client{Transport: transport}, refused: make(chan *http.Response, 10000)}
	go s.explain()
	var all sync.WaitGroup
	for n := 0; n < @{workers}; n++ {
		all.Add(1)
		go func() {
			s.work(n)
			all.Done()
		}()
	}
	all.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f}`, s.units, s.busy)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
