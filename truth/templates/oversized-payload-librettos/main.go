// Keeps a mirror of the opera house's scores: asks after one at a time, and takes those of which there is a new edition.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

const house = "http://127.0.0.1:@{port}"

type mirror struct {
	client   http.Client
	editions map[int]string
	catalog  map[int][32]byte
	asking   time.Duration
}

// edition of a score, and who wrote it.
//
//go:noinline
func (m *mirror) @{fnCamel}(number int) (edition, composer string, err error) {
	request, err := http.NewRequest("@{ask}", fmt.Sprintf("%s/scores/%d", house, number), nil)
	if err != nil {
		return "", "", err
	}
	answer, err := m.client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	// Read to its end, for the connection to be used again.
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.Header.Get("ETag"), answer.Header.Get("X-Composer"), err
}

func (m *mirror) take(number int) error {
	answer, err := m.client.Get(fmt.Sprintf("%s/scores/%d", house, number))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	file, err := os.Create(filepath.Join("@{work}", fmt.Sprintf("score-%d.pdf", number)))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(file, answer.Body)
	return err
}

func (m *mirror) check(number int) error {
	start := time.Now()
	edition, composer, err := m.@{fnCamel}(number)
	m.asking += time.Since(start)
	if err != nil {
		return err
	}
	if known := m.editions[number]; known != "" && known != edition {
		if err := m.take(number); err != nil {
			return err
		}
	}
	m.editions[number] = edition
	mark := sha256.Sum256([]byte(composer + edition))
	for range @{rounds} * 10 {
		mark = sha256.Sum256(mark[:])
	}
	m.catalog[number] = mark
	return nil
}

func main() {
	m := &mirror{editions: map[int]string{}, catalog: map[int][32]byte{}}
	var busy time.Duration
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := m.check(units % @{scores}); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), m.asking.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
