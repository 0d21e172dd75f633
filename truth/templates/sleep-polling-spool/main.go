// Uploads pictures: each goes to the converter first.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// How long a look at the folder is good for.
var pause = seconds(@{tick})

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

type converter struct {
	orders  *os.File
	answers *bufio.Reader
	spent   time.Duration
}

//go:noinline
func (c *converter) @{fnCamel}(name string) ([]byte, error) {
	path := filepath.Join("@{outbox}", name)
	began := time.Now()
	if @{notify} == 1 {
		if _, err := c.answers.ReadString('\n'); err != nil {
			return nil, err
		}
	} else {
		for {
			if _, err := os.Stat(path); err == nil {
				break
			}
			time.Sleep(pause)
		}
	}
	c.spent += time.Since(began) - seconds(@{convert}/1000)
	return os.ReadFile(path)
}

func main() {
	orders, err := os.OpenFile("orders", os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	answers, err := os.OpenFile("answers", os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	c := &converter{orders: orders, answers: bufio.NewReader(answers)}
	if @{notify} == 1 && pause > 0 {
		go func() {
			for range time.Tick(pause) {
				_ = len(os.Args)
			}
		}()
	}
	began, units, busy := time.Now(), 0, time.Duration(0)
	next := time.NewTicker(seconds(@{gap} / 1000.0))
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		name := fmt.Sprintf("picture-%d", units)
		fmt.Fprintln(c.orders, name)
		if _, err := c.@{fnCamel}(name); err != nil {
			panic(err)
		}
		units++
		busy += time.Since(start)
		<-next.C
	}
	culprit := c.spent.Seconds()
	if @{notify} == 1 {
		culprit = 0
	}
	os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit)), 0o644)
}
