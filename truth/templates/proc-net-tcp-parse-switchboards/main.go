// Admits callers: a call is put through if there are lines to spare, and gets its ticket.
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"
)

const most = @{lines} * 100 / @{limit} * 2

type switchboard struct {
	key      []byte
	asking   time.Duration
	refused  int
	tickets  [64]string
}

// How many lines are in use, by the system's own account.
func (s *switchboard) @{fnCamel}() (used int, err error) {
	start := time.Now()
	defer func() { s.asking += time.Since(start) }()
	file, err := os.Open("/proc/net/@{source}")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) > 3 && words[3] == "01":
			_, hex, _ := strings.Cut(words[1], ":")
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil && port == @{port} {
				used++
			}
		case len(words) > 2 && words[0] == "TCP:":
			both, _ := strconv.Atoi(words[2])
			used = both / 2
		}
	}
	return used, lines.Err()
}

func (s *switchboard) admit(number int) error {
	used, err := s.@{fnCamel}()
	if err != nil {
		return err
	}
	if used >= most {
		s.refused++
		return nil
	}
	seal := hmac.New(sha256.New, s.key)
	for i := 0; i < 40; i++ {
		fmt.Fprintf(seal, "call %d leg %d of %d", number, i, used)
	}
	s.tickets[number%len(s.tickets)] = fmt.Sprintf("%x", seal.Sum(nil))
	return nil
}

func main() {
	board := &switchboard{key: []byte("@{app}")}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := board.admit(units); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{calls})))
	}
	log.Printf("%d refused", board.refused)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), board.asking.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
