// Exports a store: its one file is mapped, as its readers like it.
package main

import (
	"compress/flate"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const page = 4096

type store struct {
	data []byte
}

func open(path string) (*store, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	state, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(state.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	if "@{hint}" == "random" {
		err = syscall.Madvise(data, syscall.MADV_RANDOM)
	}
	return &store{data}, err
}

//go:noinline
func (s *store) @{fnCamel}(to []byte, at int) int { return copy(to, s.data[at:]) }

func (s *store) pages() int { return len(s.data) / page }

// Nanoseconds from one part to the next.
var period = 1e9 * @{workers} / @{per_s}

type exporter struct {
	*store
	lock          sync.Mutex
	units, rows   int
	busy, reading time.Duration
	bytes         int
}

// export takes the pages of one part, each as a whole.
func (e *exporter) export(part int) (reading time.Duration, bytes int) {
	packed, err := flate.NewWriter(io.Discard, @{level})
	if err != nil {
		panic(err)
	}
	row := make([]byte, page)
	const count = @{part_kb} * 1024 / page
	first := part * count % (e.pages() - count)
	for i := 0; i < count; i++ {
		number := first + i
		if "@{mode}" == "lookup" {
			if i == 6 {
				break
			}
			number = (part*2654435761 + i*40503) & 0x7fffffff % e.pages()
		}
		start := time.Now()
		e.@{fnCamel}(row, number*page)
		reading += time.Since(start)
		n, err := packed.Write(row)
		if err != nil {
			panic(err)
		}
		bytes += n
	}
	packed.Close()
	return
}

func (e *exporter) work(worker int, began time.Time) {
	period := time.Duration(period)
	for part := worker; time.Since(began).Seconds() < @{seconds}; part += @{workers} {
		start := time.Now()
		reading, bytes := e.export(part)
		took := time.Since(start)
		e.lock.Lock()
		e.units++
		e.busy += took
		e.reading += reading
		e.bytes += bytes
		e.lock.Unlock()
		time.Sleep(period - took)
	}
}

func main() {
	s, err := open("@{work}/@{volume}/@{data}")
	if err != nil {
		panic(err)
	}
	e := &exporter{store: s}
	var all sync.WaitGroup
	began := time.Now()
	for i := 0; i < @{workers}; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			e.work(i, began)
		}()
	}
	all.Wait()
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "bytes": %d}`, e.units, e.busy.Seconds(), e.reading.Seconds(), e.bytes)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
