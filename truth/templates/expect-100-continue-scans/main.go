// Brings what the scanners of a town hall have read into the archive.
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

type scan struct {
	number int
	pages  []byte
}

type uploader struct {
	client *http.Client
	units  int
	busy   time.Duration
	spent  time.Duration
}

func newUploader() *uploader {
	transport := &http.Transport{ExpectContinueTimeout: seconds(@{patience}), MaxIdleConnsPerHost: 1}
	return &uploader{client: &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

// Black and white, in runs: what is white is most of it.
func pack(s scan) []byte {
	var out bytes.Buffer
	for i := 0; i < len(s.pages); {
		j := i
		for j < len(s.pages) && s.pages[j] == s.pages[i] && j-i < 255 {
			j++
		}
		out.WriteByte(byte(j - i))
		out.WriteByte(s.pages[i])
		i = j
	}
	return out.Bytes()
}

func (u *uploader) @{fnCamel}(number int, body []byte) (string, error) {
	request, err := http.NewRequest("PUT", fmt.Sprintf("http://127.0.0.1:@{archive}/scans/%d", number), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	if @{ask} == 1 {
		request.Header.Set("Expect", "100-continue")
	}
	var asked time.Time
	trace := &httptrace.ClientTrace{
		Wait100Continue: func() { asked = time.Now() },
		WroteRequest: func(httptrace.WroteRequestInfo) {
			if !asked.IsZero() {
				u.spent += time.Since(asked)
			}
		},
	}
	answer, err := u.client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	sum, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("the archive says %s", answer.Status)
	}
	return string(sum), err
}

func (u *uploader) take(s scan) error {
	start := time.Now()
	body := pack(s)
	sum, err := u.@{fnCamel}(s.number, body)
	if err != nil {
		return err
	}
	if sum != fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)) {
		return fmt.Errorf("scan %d is not what was sent", s.number)
	}
	u.busy += time.Since(start)
	u.units++
	return nil
}

func scanners(scans chan<- scan, end time.Time) {
	tick := time.NewTicker(seconds(1.0 / @{rate} / @{workers}))
	defer close(scans)
	for number := 1; time.Now().Before(end); number++ {
		pages := make([]byte, @{kb}*4096)
		for i := 0; i < len(pages); i++ {
			pages[i] = byte((i/8*number + i/13) % 200)
		}
		<-tick.C
		scans <- scan{number, pages}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func main() {
	scans := make(chan scan)
	go scanners(scans, time.Now().Add(seconds(@{seconds})))
	var all uploader
	var group sync.WaitGroup
	var lock sync.Mutex
	for i := 0; i < @{workers}; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			u := newUploader()
			for s := range scans {
				if err := u.take(s); err != nil {
					log.Print(err)
				}
			}
			lock.Lock()
			defer lock.Unlock()
			all.units, all.busy, all.spent = all.units+u.units, all.busy+u.busy, all.spent+u.spent
		}()
	}
	group.Wait()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, all.units, all.busy.Seconds(), all.spent.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
