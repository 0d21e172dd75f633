// Enters arms into the registry: what a blazon says, and whether somebody bears the same.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"
)

var (
	tinctures = strings.Fields("Azure Gules Or Argent Vert Sable Purpure")
	charges   = strings.Fields("lion eagle bend chevron fess mullet martlet cross saltire pale")
	culprit   time.Duration
)

func blazon(n int) string {
	var said strings.Builder
	said.WriteString(tinctures[n%7])
	for i := 0; i < @{charges}; i++ {
		n = n*48271%2147483647 + i
		fmt.Fprintf(&said, ", a %s %s", charges[n%10], tinctures[n/10%7])
	}
	return said.String()
}

type reader struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func newReader() (*reader, error) {
	child := exec.Command("@{tool}", "@{work}/@{script}.@{ending}")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &reader{in, bufio.NewReader(out)}, child.Start()
}

func (r *reader) ask(text string) (string, error) {
	if _, err := io.WriteString(r.in, text+"\n"); err != nil {
		return "", err
	}
	return r.out.ReadString('\n')
}

//go:noinline
func @{fnCamel}(texts []string) ([]string, error) {
	child := exec.Command("@{tool}", "@{work}/@{script}.@{ending}")
	child.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	child.Stderr = os.Stderr
	out, err := child.Output()
	return strings.Split(string(bytes.TrimSpace(out)), "\n"), err
}

func read(texts []string, kept *reader) ([]string, error) {
	if kept == nil {
		from := time.Now()
		said, err := @{fnCamel}(texts)
		if len(texts) == 1 {
			culprit += time.Since(from)
		}
		return said, err
	}
	said, err := kept.ask(texts[0])
	return []string{said}, err
}

func main() {
	var kept *reader
	if "@{way}" == "kept" {
		var err error
		if kept, err = newReader(); err != nil {
			log.Fatal(err)
		}
		if _, err = kept.ask(blazon(0)); err != nil {
			log.Fatal(err)
		}
	}
	registry := map[uint64]int{}
	units, alike, number := 0, 0, 0
	var busy time.Duration
	began := time.Now()
	for entry := 1; time.Since(began).Seconds() < @{seconds}; entry++ {
		start := time.Now()
		texts := []string{}
		for ; len(texts) < @{at_once}; number++ {
			texts = append(texts, blazon(number))
		}
		said, err := read(texts, kept)
		if err != nil {
			log.Fatal(err)
		}
		for _, one := range said {
			key := fnv.New64a()
			io.WriteString(key, strings.TrimSpace(one))
			if registry[key.Sum64()]++; registry[key.Sum64()] > 1 {
				alike++
			}
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(entry)/@{rate}*1e9) - time.Since(began))
	}
	fmt.Println(len(registry), "arms,", alike, "borne by another already")
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
