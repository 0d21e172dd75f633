// Posts reminders of appointments to the practices' systems: workers take them from the queue.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type task struct {
	ID       int    `json:"id"`
	Practice int    `json:"practice"`
	Patient  int    `json:"patient"`
	Tries    int    `json:"tries"`
	Text     string `json:"text"`
}

type totals struct {
	sync.Mutex
	units            int
	seconds, refused time.Duration
}

func (t *totals) add(units int, seconds, refused time.Duration) {
	t.Lock()
	t.units += units
	t.seconds += seconds
	t.refused += refused
	t.Unlock()
}

type broker struct {
	line    net.Conn
	answers *bufio.Reader
}

func join() *broker {
	line, err := net.Dial("tcp", "127.0.0.1:@{queue}")
	if err != nil {
		log.Fatal(err)
	}
	return &broker{line, bufio.NewReader(line)}
}

func (b *broker) ask(form string, rest ...any) []byte {
	fmt.Fprintf(b.line, form+"\n", rest...)
	told, err := b.answers.ReadBytes('\n')
	if err != nil {
		log.Fatal("queue: ", err)
	}
	return told
}

func (b *broker) again(t *task) { b.ask("again %d %d", t.ID, min(2000, @{first}<<min(t.Tries, 10))) }

type worker struct {
	broker *broker
	gate   *http.Client
	totals *totals
}

type letter struct {
	Patient int    `json:"patient"`
	Mark    string `json:"mark"`
	Text    string `json:"text"`
}

func write(t *task) []byte {
	mark := sha256.Sum256([]byte(fmt.Sprint(t.Patient)))
	for i := 0; i < @{rounds}*10; i++ {
		mark = sha256.Sum256(mark[:])
	}
	text, _ := json.Marshal(letter{t.Patient, hex.EncodeToString(mark[:8]), t.Text})
	return text
}

func (w *worker) call(method, path string, body []byte) (int, string) {
	request, err := http.NewRequest(method, "http://127.0.0.1:@{clinic}"+path, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := w.gate.Do(request)
	if err != nil {
		log.Fatal("practices: ", err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	var told struct {
		State string `json:"state"`
	}
	json.Unmarshal(text, &told)
	return answer.StatusCode, told.State
}

func (w *worker) @{fnCamel}(t *task) {
	path := fmt.Sprintf("/@{topic}/%d/%d", t.Practice, t.ID)
	start := time.Now()
	status, _ := w.call("POST", path, write(t))
	if status == http.StatusServiceUnavailable {
		w.broker.again(t)
		took := time.Since(start)
		w.totals.add(0, took, took)
		return
	}
	w.broker.ask("done %d", t.ID)
	took := time.Since(start)
	for receipts := time.Duration(@{receipts}); receipts > 0; {
		time.Sleep(receipts * time.Millisecond)
		start = time.Now()
		_, state := w.call("GET", path, nil)
		took += time.Since(start)
		if state == "read" {
			break
		}
	}
	w.totals.add(1, took, 0)
}

func (w *worker) run() {
	for {
		var t task
		if err := json.Unmarshal(w.broker.ask("take"), &t); err != nil {
			log.Fatal("queue: ", err)
		}
		w.@{fnCamel}(&t)
	}
}

func main() {
	var all totals
	gate := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: @{workers}}}
	for i := 0; i < @{workers}; i++ {
		go (&worker{join(), gate, &all}).run()
	}
	time.Sleep(time.Duration(@{seconds} * float64(time.Second)))
	all.Lock()
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, all.units, all.seconds.Seconds(), all.refused.Seconds())), 0o644)
}
