package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// Sink takes what the nets' sensors send.
type Sink interface {
	Put(chunk []byte) error
}

// rolling is a file that begins anew when it is full.
type rolling struct {
	path string
	file *os.File
	size int
}

func (r *rolling) Put(chunk []byte) error {
	if r.file == nil || r.size > @{keep_mb}<<20 {
		if r.file != nil {
			r.file.Close()
			os.Rename(r.path, r.path+".1")
		}
		var err error
		if r.file, err = os.Create(r.path); err != nil {
			return err
		}
		r.size = 0
	}
	n, err := r.file.Write(chunk)
	r.size += n
	return err
}

type route struct {
	sink  Sink
	every int
}

type Recorder struct {
	routes []route
	seen   int
	spent  time.Duration
}

func (r *Recorder) @{fnCamel}(chunk []byte) {
	r.seen++
	for i, to := range r.routes {
		if to.every == 0 || r.seen%to.every != 0 {
			continue
		}
		began := time.Now()
		if err := to.sink.Put(chunk); err != nil {
			fmt.Fprintln(os.Stderr, "recorder:", err)
		}
		if i > 0 {
			r.spent += time.Since(began)
		}
	}
}

type net struct {
	depth float64
	frame []byte
}

func (n *net) haul(number int) []byte {
	for i := 0; i < @{pings}; i++ {
		n.depth += math.Sin(float64(number*i)) * 0.7
		at := (number*31 + i*257) % (len(n.frame) - 16)
		binary.LittleEndian.PutUint64(n.frame[at:], math.Float64bits(n.depth))
	}
	binary.LittleEndian.PutUint64(n.frame, uint64(number))
	return n.frame
}

func main() {
	recorder := &Recorder{routes: []route{
		{&rolling{path: "@{work}/@{first}"}, 1},
		{&rolling{path: "@{work}/@{second}"}, map[bool]int{true: 1, false: @{marked}}[@{both} == 1]},
	}}
	trawl := &net{frame: make([]byte, @{chunk_kb}<<10)}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for i := 0; i < @{chunks}; i++ {
			recorder.@{fnCamel}(trawl.haul(units*@{chunks} + i))
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{wanted} * 1e9))))
	}
	out, err := os.Create("@{report}")
	if err != nil {
		panic(err)
	}
	io.WriteString(out, fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), recorder.spent.Seconds()))
	out.Close()
}
