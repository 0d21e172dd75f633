// Hands the slices of tomographs to the archive: some senders, each with a patient of its own.
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"time"
)

type sender struct {
	client  *http.Client
	patient int
	units   int
	busy    time.Duration
	waited  time.Duration
}

// A disc in a square: denser towards its middle.
func slice(patient, number int) []byte {
	points := make([]byte, @{size}*1000)
	for at := range points {
		x, y := at%512-256, at/512%512-256
		if far := x*x + y*y; far < 250*250 {
			points[at] = byte((62500-far)>>8 + patient + number)
		}
	}
	return points
}

func (s *sender) @{fnCamel}(number int, points []byte) error {
	request, err := http.NewRequest("PUT", fmt.Sprintf("http://127.0.0.1:@{port}/patients/%d/slices/%d", s.patient, number), bytes.NewReader(points))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/dicom")
	if "@{ask}" == "yes" {
		request.Header.Set("Expect", "100-continue")
		var asked time.Time
		trace := &httptrace.ClientTrace{
			Wait100Continue: func() { asked = time.Now() },
			WroteRequest: func(httptrace.WroteRequestInfo) {
				if !asked.IsZero() {
					s.waited += time.Since(asked)
				}
			},
		}
		request = request.WithContext(httptrace.WithClientTrace(request.Context(), trace))
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	if want := fmt.Sprintf("%08x", crc32.ChecksumIEEE(points)); err == nil && string(told) != want {
		return fmt.Errorf("archive has %s instead of %s", told, want)
	}
	return err
}

func (s *sender) work(end time.Time) {
	began := time.Now()
	for time.Now().Before(end) {
		start := time.Now()
		if err := s.@{fnCamel}(s.units, slice(s.patient, s.units)); err != nil {
			log.Println(err)
		} else {
			s.units++
			s.busy += time.Since(start)
		}
		due := began.Add(time.Duration(float64(s.units) / @{rate} * 1e9))
		time.Sleep(max(min(time.Until(due), time.Second), 0))
	}
}

func main() {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ExpectContinueTimeout = time.Duration(@{patience} * float64(time.Second))
	transport.MaxIdleConnsPerHost = @{senders}
	client := &http.Client{Transport: transport}
	end := time.Now().Add(time.Duration(float64(@{seconds}) * 1e9))
	senders := make([]sender, @{senders})
	var all sync.WaitGroup
	for i := range senders {
		senders[i].client, senders[i].patient = client, 1000+i*37
		all.Add(1)
		go func() { defer all.Done(); senders[i].work(end) }()
	}
	all.Wait()
	units, busy, waited := 0, 0.0, 0.0
	for _, s := range senders {
		units, busy, waited = units+s.units, busy+s.busy.Seconds(), waited+s.waited.Seconds()
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, waited)), 0o644)
}
