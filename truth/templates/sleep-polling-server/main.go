// Converts drawings for those who look at them; the converter's few slots are shared by all.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type drawing struct {
	name  string
	lock  sync.Mutex
	state string
	text  string
	done  chan struct{}
}

func (d *drawing) is(state string) bool {
	d.lock.Lock()
	defer d.lock.Unlock()
	return d.state == state
}

var (
	waiting   = make(chan *drawing, 1000)
	converted atomic.Int64
	pause     = @{pause} * float64(time.Second)
	tick      = @{tick} * float64(time.Second)
)

func convert() {
	padding := strings.Repeat(".", @{bytes})
	for d := range waiting {
		mark := sha256.Sum256([]byte(d.name))
		for start := time.Now(); time.Since(start).Seconds() < @{job_ms}/1000; {
			mark = sha256.Sum256(mark[:])
		}
		d.lock.Lock()
		d.state, d.text = "ready", hex.EncodeToString(mark[:])+padding
		d.lock.Unlock()
		close(d.done)
		converted.Add(1)
	}
}

//go:noinline
func @{fnCamel}(d *drawing) string {
	if "@{wait}" == "told" {
		<-d.done
		return d.text
	}
	for !d.is("ready") {
		time.Sleep(time.Duration(pause))
	}
	return d.text
}

func main() {
	for i := 0; i < @{workers}; i++ {
		go convert()
	}
	go func() {
		last := int64(0)
		for range time.Tick(time.Duration(tick)) {
			last = converted.Load() - last
		}
	}()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		d := &drawing{name: r.URL.Path, state: "waiting", done: make(chan struct{})}
		waiting <- d
		w.Write([]byte(@{fnCamel}(d)))
	})
	panic(http.ListenAndServe("127.0.0.1:@{port}", nil))
}
