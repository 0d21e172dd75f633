package main

import (
	"archive/zip"
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log"
	"net"
	"strings"
	"sync"
)

// Season is where the texts of the souvenirs are.
type Season struct {
	path  string
	mu    sync.Mutex
	texts map[string]string
	open  *zip.ReadCloser
}

func itemOf(n int) string {
	n = n % @{asked} * (@{entries} / @{asked})
	return fmt.Sprintf("@{season}/%02d/item-%05d.txt", n%40, n)
}

func read(z fs.FS, name string) (string, error) {
	file, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	return string(text), err
}

func (s *Season) @{fnCamel}(name string) (string, error) {
	archive, err := zip.OpenReader(s.path)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	return read(archive, name)
}

func (s *Season) text(name string) (string, error) {
	if "@{how}" == "anew" {
		return s.@{fnCamel}(name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, known := s.texts[name]; known {
		return text, nil
	}
	text, err := read(s.open, name)
	if err == nil {
		s.texts[name] = text
	}
	return text, err
}

func proof(label string) uint32 {
	sum := crc32.ChecksumIEEE([]byte(label))
	for i := 0; i < @{proof}; i++ {
		sum = sum*1664525 + crc32.ChecksumIEEE([]byte{byte(i), byte(sum)})
	}
	return sum
}

func serve(line net.Conn, season *Season) {
	defer line.Close()
	questions := bufio.NewScanner(line)
	for questions.Scan() {
		var n int
		if _, err := fmt.Sscanf(questions.Text(), "label %d", &n); err != nil {
			return
		}
		text, err := season.text(itemOf(n))
		if err != nil {
			fmt.Fprintln(line, "error", err)
			continue
		}
		label := strings.ReplaceAll(text, "{name}", "Souvenir")
		fmt.Fprintf(line, "ok %d %08x %s\n", len(label), proof(label), label[:strings.IndexByte(label, '\n')])
	}
}

func main() {
	season := &Season{path: "@{work}/@{archive}", texts: map[string]string{}}
	if "@{how}" != "anew" {
		var err error
		if season.open, err = zip.OpenReader(season.path); err != nil {
			log.Fatal(err)
		}
		for n := 0; n < @{asked} && "@{how}" == "ahead"; n++ {
			season.text(itemOf(n))
		}
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(line, season)
	}
}
