// Writes invoices: each gets the next number, which several programs draw from one file.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"syscall"
	"time"
)

var drawing time.Duration

//go:noinline
func @{fnCamel}() (int, error) {
	start := time.Now()
	defer func() { drawing += time.Since(start) }()
	file, err := os.OpenFile("@{work}/@{lock}", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return 0, err
	}
	number := 0
	text, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	fmt.Sscan(string(text), &number)
	_, err = file.WriteAt([]byte(fmt.Sprintf("%012d\n", number+1)), 0)
	return number + 1, err
}

func invoice(number int) string {
	var text strings.Builder
	total := 0
	for line := 1; line <= @{lines}; line++ {
		cents := number * line * 7919 % 10000
		total += cents
		fmt.Fprintf(&text, "%d;%d;article %d;%d\n", number, line, cents%97, cents)
	}
	fmt.Fprintf(&text, "%d;total;%d\n", number, total)
	return text.String()
}

func main() {
	out, err := os.Create("@{work}/invoices.csv")
	if err != nil {
		log.Fatal(err)
	}
	begin, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(begin).Seconds() < @{seconds} {
		start := time.Now()
		number, err := @{fnCamel}()
		if err != nil {
			log.Fatal(err)
		}
		out.WriteString(invoice(number))
		units++
		busy += time.Since(start)
		time.Sleep(time.Second / @{rate})
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), drawing.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
