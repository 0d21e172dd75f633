// Takes orders of knitting patterns: finds the newest revision of a design's chart, and counts its stitches for the price.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var every = @{every}

type shelf struct {
	folder  string
	names   []string
	orders  int
	looking time.Duration
}

func (s *shelf) @{fnCamel}() error {
	folder, err := os.Open(s.folder)
	if err != nil {
		return err
	}
	defer folder.Close()
	s.names, err = folder.Readdirnames(-1)
	return err
}

func (s *shelf) newest(design string) (string, error) {
	if s.names == nil || every > 0 && s.orders%every == 0 {
		start := time.Now()
		if err := s.@{fnCamel}(); err != nil {
			return "", err
		}
		s.looking += time.Since(start)
	}
	s.orders++
	best := ""
	for _, name := range s.names {
		if strings.HasPrefix(name, design) && name > best {
			best = name
		}
	}
	return filepath.Join(s.folder, best), nil
}

type bill struct {
	chart    string
	stitches int
	mark     uint32
}

func price(path string) (bill, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return bill{}, err
	}
	words := bufio.NewScanner(bytes.NewReader(text))
	words.Split(bufio.ScanWords)
	made := bill{chart: path, mark: crc32.ChecksumIEEE(text)}
	for words.Scan() {
		made.stitches += len(words.Text())
	}
	return made, nil
}

func main() {
	charts := &shelf{folder: "@{work}/@{charts}"}
	bills := map[string]bill{}
	var busy time.Duration
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		design := fmt.Sprintf("d%04d-", units*37%@{designs})
		path, err := charts.newest(design)
		if err != nil {
			log.Fatal(err)
		}
		if bills[design], err = price(path); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), charts.looking.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
