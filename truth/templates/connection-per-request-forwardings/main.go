package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

type register struct {
	address string
	stay    bool
	line    net.Conn
	answers *bufio.Reader
}

func (r *register) say(text string) (string, error) {
	if text != "" {
		if _, err := fmt.Fprintf(r.line, "%s\n", text); err != nil {
			return "", err
		}
	}
	answer, err := r.answers.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (r *register) open() error {
	line, err := net.DialTimeout("tcp", r.address, 2*time.Second)
	if err != nil {
		return err
	}
	r.line, r.answers = line, bufio.NewReader(line)
	if _, err = r.say(""); err != nil {
		return err
	}
	_, err = r.say("depot @{depot}-@{key}")
	return err
}

// Where does this person live now? The second result is what it took to get through.
//
//go:noinline
func (r *register) @{fnCamel}(person int) (string, time.Duration) {
	var through time.Duration
	if r.line == nil {
		start := time.Now()
		if err := r.open(); err != nil {
			log.Fatal(err)
		}
		through = time.Since(start)
	}
	answer, err := r.say(fmt.Sprint("who ", person))
	if err != nil {
		log.Fatal(err)
	}
	if !r.stay {
		start := time.Now()
		r.line.Close()
		r.line = nil
		through += time.Since(start)
	}
	return answer, through
}

// The bars below the address: four states for each sign, and a sum.
func bars(address string) string {
	var out strings.Builder
	sum := 0
	for _, sign := range address {
		sum += int(sign)
		for shift := 6; shift >= 0; shift -= 2 {
			out.WriteByte("|'.,"[int(sign)>>shift&3])
		}
	}
	return fmt.Sprintf("%s %02d", out.String(), sum%97)
}

func main() {
	r := &register{address: "127.0.0.1:@{register}", stay: @{stay} == 1}
	trays := map[string]int{}
	began := time.Now()
	var busy, culprit time.Duration
	letters := 0
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		person := letters * 7919 % 1000003
		address, through := r.@{fnCamel}(person)
		culprit += through
		if address == "-" {
			address = fmt.Sprint(person%300+1, " Old Road")
		}
		_, street, _ := strings.Cut(address, " ")
		trays[street] += len(bars(address)) % 2
		letters++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(letters)/@{rate}*1e9) - time.Since(began))
	}
	fmt.Println(letters, "letters", trays)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, letters, busy.Seconds(), culprit.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
