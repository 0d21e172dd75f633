// The steward of a streamed concert: a listener who asks gets a ticket and the programme, or is told to come later.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const room = @{room}

type steward struct {
	key      []byte
	tickets  map[string]int
	refused  int
	there    int
	counting time.Duration
}

type listener struct {
	number int
	seat   string
	lang   string
}

func established(local string) bool {
	return local == "01"
}

//go:noinline
func @{fnCamel}() (int, error) {
	if "@{count}" == "totals" {
		text, err := os.ReadFile("/proc/net/sockstat")
		if err != nil {
			return 0, err
		}
		for _, line := range strings.Split(string(text), "\n") {
			if words := strings.Fields(line); len(words) > 2 && words[0] == "TCP:" {
				return strconv.Atoi(words[2])
			}
		}
		return 0, fmt.Errorf("no total")
	}
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	count := 0
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if words := strings.Fields(line); len(words) > 3 && established(words[3]) {
			count++
		}
	}
	return count, nil
}

func (s *steward) programme(who listener) string {
	var text strings.Builder
	for verse := 0; verse < @{verses}; verse++ {
		fmt.Fprintf(&text, "%d. [%s] Psalm %d, verse %d\n", verse+1, who.lang, (who.number*7+verse)%150+1, verse%12+1)
	}
	return text.String()
}

func (s *steward) admit(who listener) (string, error) {
	if who.number%@{good_for} == 0 {
		start := time.Now()
		there, err := @{fnCamel}()
		s.counting += time.Since(start)
		if err != nil {
			return "", err
		}
		s.there = there
	}
	if s.there >= room {
		s.refused++
		return "later", nil
	}
	sum := hmac.New(sha256.New, s.key)
	fmt.Fprintf(sum, "%d %s %s", who.number, who.seat, s.programme(who))
	ticket := hex.EncodeToString(sum.Sum(nil))
	s.tickets[ticket[:16]] = who.number
	return ticket, nil
}

func main() {
	s := &steward{key: []byte("@{app}"), tickets: map[string]int{}}
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		who := listener{units, fmt.Sprintf("%c%d", 'A'+units%20, units%31), []string{"en", "de", "la"}[units%3]}
		start := time.Now()
		if _, err := s.admit(who); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": s.counting.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
