// The till of a department store: prices what was bought, has the receipt signed, and keeps the totals of each desk.
package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

type desk struct {
	total, unsigned int
	receipts        int
}

type till struct {
	desks   []desk
	line    net.Conn
	seals   *bufio.Reader
	waited  time.Duration
	lastErr error
}

func (t *till) @{fnCamel}() bool {
	if t.line != nil {
		return true
	}
	start := time.Now()
	defer func() { t.waited += time.Since(start) }()
	for time.Since(start) < @{patience_ms}*time.Millisecond {
		for _, path := range []string{"@{work}/@{first}", "@{work}/@{signer}"} {
			line, err := net.Dial("unix", path)
			if err == nil {
				t.line, t.seals = line, bufio.NewReader(line)
				return true
			}
			t.lastErr = err
		}
	}
	return false
}

func (t *till) sign(text string) (string, bool) {
	if !t.@{fnCamel}() {
		return "", false
	}
	fmt.Fprintf(t.line, "%x\n", sha256.Sum256([]byte(text)))
	seal, err := t.seals.ReadString('\n')
	t.line.Close()
	t.line = nil
	return strings.TrimSpace(seal), err == nil
}

func (t *till) sell(number int) string {
	at := &t.desks[number%len(t.desks)]
	var receipt strings.Builder
	sum := 0
	for item := range @{lines} {
		article, many := (number*31+item*17)%4000, 1+(number+item)%3
		price := 99 + article*7%5000
		sum += price * many
		fmt.Fprintf(&receipt, "%04d %2d x %7.2f\n", article, many, float64(price)/100)
	}
	fmt.Fprintf(&receipt, "total %.2f, of it tax %.2f\n", float64(sum)/100, float64(sum)*19/11900)
	seal, ok := t.sign(receipt.String())
	if !ok {
		seal = "SIGNER NOT AVAILABLE"
		at.unsigned++
	}
	at.total += sum
	at.receipts++
	return receipt.String() + seal + "\n"
}

func main() {
	t := &till{desks: make([]desk, @{desks})}
	units, busy, length, began := 0, time.Duration(0), 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		length += len(t.sell(units))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	if t.lastErr != nil {
		fmt.Fprintln(os.Stderr, "signer:", t.lastErr)
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), t.waited.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
