// The counters of a pharmacy: GET /prescriptions/N tells what the patient pays, and what the insurer does.
package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"
)

type call struct {
	Version string         `json:"jsonrpc"`
	ID      int64          `json:"id"`
	Method  string         `json:"method"`
	Params  map[string]int `json:"params,omitempty"`
}

type reply struct {
	ID     int64          `json:"id"`
	Result map[string]int `json:"result"`
}

// house is the line to the clearing house, on which the calls of all counters go.
type house struct {
	conn    net.Conn
	mu      sync.Mutex
	last    int64
	waiting map[int64]chan map[string]int
}

var errSilent = errors.New("the clearing house does not answer")

func dial() (*house, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:@{house}")
	if err != nil {
		return nil, err
	}
	h := &house{conn: conn, waiting: map[int64]chan map[string]int{}}
	go h.read()
	return h, nil
}

func (h *house) read() {
	for lines := bufio.NewScanner(h.conn); lines.Scan(); {
		var r reply
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			log.Print(err)
			continue
		}
		h.mu.Lock()
		who := h.waiting[r.ID]
		delete(h.waiting, r.ID)
		h.mu.Unlock()
		if who != nil {
			who <- r.Result
		}
	}
	log.Fatal("the clearing house hung up")
}

func (h *house) enter(id int64) (int64, chan map[string]int) {
	answer := make(chan map[string]int, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if id < 0 {
		h.last++
		id = h.last
	}
	h.waiting[id] = answer
	return id, answer
}

//go:noinline
func (h *house) @{fnCamel}(id int64, method string, params map[string]int) (map[string]int, error) {
	id, answer := h.enter(id)
	text, err := json.Marshal(call{"2.0", id, method, params})
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	limit := @{limit} * float64(time.Millisecond)
	for try := 0; try < @{tries}; try++ {
		if _, err := h.conn.Write(text); err != nil {
			return nil, err
		}
		timer := time.NewTimer(time.Duration(limit))
		select {
		case result := <-answer:
			timer.Stop()
			return result, nil
		case <-timer.C:
			limit *= @{growth}
		}
	}
	h.mu.Lock()
	delete(h.waiting, id)
	h.mu.Unlock()
	return nil, errSilent
}

func (h *house) watch() {
	for range time.Tick(max(@{ask}, 1) * time.Millisecond) {
		if _, err := h.@{fnCamel}(0, "open", nil); err != nil {
			log.Print(err)
		}
	}
}

// The mark on a package, by which a counterfeit is told.
func mark(number int) string {
	sum := sha1.Sum([]byte(strconv.Itoa(number)))
	for i := 0; i < @{rounds}; i++ {
		sum = sha1.Sum(sum[:])
	}
	return fmt.Sprintf("%x", sum[:6])
}

func main() {
	h, err := dial()
	if err != nil {
		log.Fatal(err)
	}
	if @{ask} > 0 {
		go h.watch()
	}
	http.HandleFunc("/prescriptions/", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(path.Base(r.URL.Path))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		cents := 400 + number*7919%9000
		said, err := h.@{fnCamel}(-1, "cover", map[string]int{"prescription": number, "insurer": number % 90, "cents": cents})
		if err != nil {
			log.Print(number, ": ", err)
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"mark": mark(number), "insurer": said["pays"], "patient": cents - said["pays"]})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
