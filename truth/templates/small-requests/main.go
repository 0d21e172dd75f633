package main

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// source lets a scanner of lines work on a document that is elsewhere.
type source struct {
	name string
	at   int64
}

var (
	client = &http.Client{Transport: &http.Transport{}}
	spent  time.Duration
)

func (s *source) Read(into []byte) (int, error) {
	if s.at >= @{size} {
		return 0, io.EOF
	}
	began := time.Now()
	defer func() { spent += time.Since(began) }()
	into = into[:min(len(into), @{piece})]
	request, _ := http.NewRequest("GET", "http://127.0.0.1:@{store}/"+s.name, nil)
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", s.at, s.at+int64(len(into))-1))
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.ReadFull(answer.Body, into)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	io.Copy(io.Discard, answer.Body)
	s.at += int64(n)
	return n, err
}

func @{fnCamel}(name string) ([]byte, error) {
	lines := bufio.NewScanner(bufio.NewReaderSize(&source{name: name}, @{size}))
	sum := md5.New()
	for lines.Scan() {
		sum.Write(bytes.ToUpper(lines.Bytes()))
	}
	return sum.Sum(nil), lines.Err()
}

func main() {
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if _, err := @{fnCamel}(fmt.Sprintf("feed-%d.csv", units)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{pace} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
