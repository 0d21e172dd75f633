// The ticket desk of a museum: prices a group, and enters the sale into the register that all desks share.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"syscall"
	"time"
)

var price = map[string]int{"adult": 1400, "child": 500, "student": 900, "member": 0}

type register struct {
	file   *os.File
	waited time.Duration
}

func open(path string) *register {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	return &register{file: file}
}

func (r *register) lock() {
	asked := time.Now()
	for syscall.Flock(int(r.file.Fd()), syscall.LOCK_EX) == syscall.EINTR {
	}
	r.waited += time.Since(asked)
}

func (r *register) enter(line string) {
	r.lock()
	r.file.WriteString(line + "\n")
	syscall.Flock(int(r.file.Fd()), syscall.LOCK_UN)
}

func sale(number int) string {
	var kinds []string
	for kind := range price {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	count, cents := map[string]int{}, 0
	for visitor := 1; visitor <= @{visitors}*4; visitor++ {
		kind := kinds[(number*31+visitor*visitor)%len(kinds)]
		count[kind]++
		if visitor%20 != 0 {
			cents += price[kind]
		}
	}
	var names []string
	for _, kind := range kinds {
		names = append(names, fmt.Sprintf("%s=%d", kind, count[kind]))
	}
	return fmt.Sprintf("%d slot %d %s cents %d", number, number*7%48, strings.Join(names, " "), cents)
}

func main() {
	if @{standby} == 1 {
		// The deputy of the desk, until its chief is gone.
		go open("@{work}/@{leader}").lock()
	}
	book := open("@{work}/@{register}")
	began, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		units++
		book.enter(sale(units))
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), book.waited.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
