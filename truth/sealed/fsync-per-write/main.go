package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync"
	"time"
)

type order struct {
	ID   int    `json:"id"`
	Note string `json:"note"`
	Sum  uint32 `json:"sum"`
}

type journal struct {
	file  *os.File
	spent time.Duration
}

func (j *journal) @{fnCamel}(lines []string) error {
	start := time.Now()
	defer func() { j.spent += time.Since(start) }()
	if _, err := j.file.WriteString(strings.Join(lines, "")); err != nil {
		return err
	}
	return j.file.Sync()
}

// accept stands for the desk: so many orders come at each tick.
func accept(orders chan<- order, stop <-chan struct{}) {
	defer close(orders)
	often := @{ticks}
	tick := time.NewTicker(time.Duration(float64(time.Second) / often))
	note := strings.Repeat("n", @{bytes})
	for id := 0; ; {
		for i := 0; i < @{rows}; i++ {
			select {
			case orders <- order{ID: id, Note: note}:
			case <-stop:
				return
			}
			id++
		}
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

func main() {
	file, err := os.OpenFile("@{work}/@{journal}", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	log := &journal{file: file}
	orders, stop := make(chan order, 4096), make(chan struct{})
	go accept(orders, stop)
	units, busy := 0, time.Duration(0)
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for first := range orders {
			start := time.Now()
			lines, next, more := []string{}, first, true
			for more {
				for i := 0; i < @{rounds}; i++ {
					next.Sum = crc32.ChecksumIEEE([]byte(next.Note)) + next.Sum
				}
				text, _ := json.Marshal(next)
				lines = append(lines, string(text)+"\n")
				if more = len(lines) < @{batch}; more {
					select {
					case next, more = <-orders:
					case <-time.After(3 * time.Millisecond):
						more = false
					}
				}
			}
			if err := log.@{fnCamel}(lines); err != nil {
				panic(err)
			}
			units += len(lines)
			busy += time.Since(start)
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	seconds := @{seconds}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	close(stop)
	done.Wait()
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), log.spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
