// Brings the articles of the bylaws into the municipal gazette.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"
)

var subjects = []string{"The keeping of poultry", "The lighting of \"open fires\"", "The clearing of snow", "Stalls on the market square"}

type composer struct {
	script *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	set    int
}

func (c *composer) start() (err error) {
	c.script = exec.Command("/usr/bin/python3", "@{work}/@{script}")
	c.script.Stderr = os.Stderr
	if c.in, err = c.script.StdinPipe(); err != nil {
		return err
	}
	out, err := c.script.StdoutPipe()
	if err != nil {
		return err
	}
	c.out, c.set = bufio.NewReader(out), 0
	return c.script.Start()
}

func (c *composer) stop() error {
	c.in.Close()
	err := c.script.Wait()
	c.script = nil
	return err
}

//go:noinline
func (c *composer) @{fnCamel}(text string) (lines []string, err error) {
	if c.script == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		return nil, err
	}
	answer, err := c.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	if c.set++; c.set >= @{articles} {
		if err := c.stop(); err != nil {
			return nil, err
		}
	}
	var article struct{ Lines []string }
	return article.Lines, json.Unmarshal(answer, &article)
}

func draft(number int) string {
	parts := make([]string, 0, @{clauses}+1)
	for i := 0; i <= @{clauses}; i++ {
		parts = append(parts, fmt.Sprintf("%s is governed by Sec. %d and the fee of %d", strings.ToLower(subjects[(number+i)%len(subjects)]), i+1, (number*31+i*7)%90))
	}
	return strings.Join(parts, "; ")
}

// place finds the page on which an article leaves the least room.
func place(lines []string) (page int) {
	best := uint32(1<<32 - 1)
	for pass := 0; pass < @{passes}; pass++ {
		room := crc32.ChecksumIEEE([]byte(strings.Join(lines, "\n"))) ^ uint32(pass*2654435)
		if room < best {
			best, page = room, pass
		}
	}
	return page
}

func main() {
	script := composer{}
	began, busy, culprit := time.Now(), time.Duration(0), time.Duration(0)
	pages, units := make([]int, @{passes}), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		text := draft(units)
		set := time.Now()
		lines, err := script.@{fnCamel}(text)
		if err != nil {
			log.Fatal(err)
		}
		culprit += time.Since(set)
		pages[place(lines)] += len(lines)
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{per_s}*1e9) - time.Since(began))
	}
	if script.script != nil {
		script.stop()
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
