// Accounts of a toll station: the cars of a quarter are rated, and go to the account in one piece; then the quarter is closed.
package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"
)

type Car struct {
	Plate  string
	Axles  int
	Weight int
}

type Account struct {
	file  *os.File
	spent time.Duration
}

func passing(quarter int) []Car {
	state := uint32(quarter)*7919 + 1
	cars := make([]Car, @{cars})
	for i := range cars {
		state = state*1664525 + 1013904223
		cars[i] = Car{fmt.Sprintf("%c%c %04d", 'A'+state>>28, 'A'+state>>24&15, state>>8%10000), 2 + int(state>>20%4), int(state >> 16 % 40000)}
	}
	sort.Slice(cars, func(a, b int) bool { return cars[a].Plate < cars[b].Plate })
	return cars
}

func fee(car Car) int {
	return 150*car.Axles + car.Weight/100
}

//go:noinline
func (a *Account) @{fnCamel}(how string) {
	start := time.Now()
	switch how {
	case "all":
		syscall.Sync()
	case "own":
		if err := syscall.Fdatasync(int(a.file.Fd())); err != nil {
			log.Fatal(err)
		}
	}
	a.spent += time.Since(start)
}

// The mark that the road authority checks: the longer it is worked on, the better.
func prove(rows string) uint32 {
	mark := crc32.ChecksumIEEE([]byte(rows))
	for end := time.Now().Add(time.Duration(@{proof_ms} * 1e6)); time.Now().Before(end); {
		mark = min(mark, crc32.ChecksumIEEE([]byte(fmt.Sprint(mark, rows))))
	}
	return mark
}

func (a *Account) book(quarter int, cars []Car) error {
	var rows strings.Builder
	total := 0
	for _, car := range cars {
		total += fee(car)
		fmt.Fprintf(&rows, "%d;%s;%d\n", quarter, car.Plate, fee(car))
	}
	fmt.Fprintf(&rows, "= %d %08x\n", total, prove(rows.String()))
	_, err := a.file.WriteString(rows.String())
	return err
}

func main() {
	file, err := os.OpenFile("@{work}/@{account}", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	account := &Account{file: file}
	var busy time.Duration
	units, rate := 0, @{rate}
	began := time.Now()
	due := began
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		if err := account.book(units, passing(units)); err != nil {
			log.Fatal(err)
		}
		account.@{fnCamel}("@{settle}")
		busy += time.Since(start)
		units++
		period := time.Duration(1e9 / rate)
		due = due.Add(period)
		if late := time.Now(); due.Before(late) {
			due = late
		}
		time.Sleep(time.Until(due))
	}
	spent := account.spent
	if "@{settle}" == "last" {
		account.@{fnCamel}("all")
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": spent.Seconds()})
	if err := os.WriteFile("@{report}", text, 0o644); err != nil {
		log.Fatal(err)
	}
}
