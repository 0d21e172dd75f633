// The till of a filling station: each filling is granted by the card bank, and booked.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"math"
	"math/rand"
	"os"
	"strings"
	"time"
)

type bank struct {
	config  *tls.Config
	line    *tls.Conn
	answers *bufio.Reader
	asked   int
	joining time.Duration
}

//go:noinline
func (b *bank) @{fn}() error {
	start := time.Now()
	line, err := tls.Dial("tcp", "127.0.0.1:@{port}", b.config)
	if err != nil {
		return err
	}
	b.line, b.answers = line, bufio.NewReader(line)
	b.joining += time.Since(start)
	return nil
}

func (b *bank) grants(card string, cents int) (bool, error) {
	if b.line == nil {
		if err := b.@{fn}(); err != nil {
			return false, err
		}
	}
	if _, err := fmt.Fprintf(b.line, "GRANT %s %d\n", card, cents); err != nil {
		return false, err
	}
	answer, err := b.answers.ReadString('\n')
	if err != nil {
		return false, err
	}
	if b.asked++; b.asked%@{hold} == 0 {
		b.line.Close()
		b.line = nil
	}
	return strings.HasPrefix(answer, "GRANTED"), nil
}

// The last digit, by Luhn.
func sealed(digits string) string {
	sum := 0
	for i := range digits {
		digit := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			digit *= 2
		}
		sum += digit/10 + digit%10
	}
	return fmt.Sprintf("%s%d", digits, (10-sum%10)%10)
}

func main() {
	pem, err := os.ReadFile("@{work}/bank.pem")
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	b := &bank{config: &tls.Config{RootCAs: roots}}
	booked := map[int]int{}
	var receipt string
	var busy time.Duration
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		pump, litres := rand.Intn(@{pumps}), float64(500+rand.Intn(6500))/100
		card := sealed(fmt.Sprintf("70%012d", rand.Int63n(1e12)))
		start := time.Now()
		cents := int(math.Round(litres * (169.9 + float64(pump%3*12))))
		good, err := b.grants(card, cents)
		if err != nil {
			log.Fatal(err)
		}
		if good {
			booked[pump] += cents
			receipt = fmt.Sprintf("pump %2d  %6.2f l  %8.2f EUR  card ****%s", pump, litres, float64(cents)/100, card[len(card)-4:])
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	log.Print(receipt)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), b.joining.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
