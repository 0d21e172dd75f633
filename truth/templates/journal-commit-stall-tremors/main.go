// Keeps the last minutes of a seismic network: each station's segments in a ring of files, and a picture of the day for the web.
package main

import (
	"fmt"
	"hash/fnv"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const keep = 20

type Totals struct {
	sync.Mutex
	units         int
	busy, putting time.Duration
}

type Ring struct {
	folder string
	number int
}

func (r *Ring) put(segment []byte) error {
	r.number++
	path := filepath.Join(r.folder, fmt.Sprintf("s%06d", r.number))
	if err := os.WriteFile(path+".open", segment, 0o644); err != nil {
		return err
	}
	if err := os.Rename(path+".open", path); err != nil {
		return err
	}
	if r.number > keep {
		return os.Remove(filepath.Join(r.folder, fmt.Sprintf("s%06d", r.number-keep)))
	}
	return nil
}

func sample(number int) []byte {
	segment := make([]byte, @{bytes})
	until := time.Now().Add(time.Duration(@{effort} * 1e6))
	sum := fnv.New64a()
	for i := number; time.Now().Before(until); i++ {
		fmt.Fprint(sum, i)
		segment[i%len(segment)] = byte(sum.Sum64())
	}
	return segment
}

func station(which int, over <-chan struct{}, totals *Totals) {
	ring := &Ring{folder: fmt.Sprintf("@{work}/@{volume}/@{segments}/%d", which)}
	if err := os.MkdirAll(ring.folder, 0o755); err != nil {
		log.Fatal(err)
	}
	rate := @{rate} * 1.0
	due := time.Now()
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Until(due)):
		}
		start := time.Now()
		segment := sample(which)
		before := time.Now()
		if err := ring.put(segment); err != nil {
			log.Fatal(err)
		}
		end := time.Now()
		totals.Lock()
		totals.units++
		totals.busy += end.Sub(start)
		totals.putting += end.Sub(before)
		totals.Unlock()
		due = due.Add(time.Duration(1e9 / rate))
		if due.Before(end) {
			due = end
		}
	}
}

//go:noinline
func @{fnCamel}(day []byte) error {
	path := "@{work}/@{pictures}/@{picture}"
	out, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	for at := 0; at < len(day); at += 1 << 18 {
		if _, err := out.Write(day[at:min(at+1<<18, len(day))]); err != nil {
			return err
		}
	}
	if err := out.Sync(); err != nil {
		return err
	}
	out.Close()
	return os.Rename(path+".tmp", path)
}

// What segments there are is on the disk then.
func index(beat time.Duration) {
	folder, err := os.Open("@{work}/@{volume}/@{segments}")
	for err == nil {
		time.Sleep(beat)
		err = folder.Sync()
	}
}

func main() {
	if err := os.MkdirAll("@{work}/@{pictures}", 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll("@{work}/@{volume}/@{segments}", 0o755); err != nil {
		log.Fatal(err)
	}
	totals, over := &Totals{}, make(chan struct{})
	var running sync.WaitGroup
	for which := 0; which < @{stations}; which++ {
		running.Add(1)
		go func() {
			defer running.Done()
			station(which, over, totals)
		}()
	}
	go index(time.Duration(@{beat} * 1e9))
	go func() {
		day := make([]byte, @{kb}*1024)
		for i := range day {
			day[i] = byte(i * i >> 7)
		}
		for {
			time.Sleep(time.Duration(@{gap} * 1e9))
			if err := @{fnCamel}(day); err != nil {
				log.Fatal(err)
			}
		}
	}()
	time.Sleep(time.Duration(@{seconds} * 1e9))
	close(over)
	running.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, totals.units, totals.busy.Seconds(), totals.putting.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
