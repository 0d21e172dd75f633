// The embargo desk: may this consignor send these goods, and what is the duty?
// A question is a block of "name: value" lines that an empty line ends, and so is the answer.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
)

const way = "@{way}"

type tariff struct {
	conn    net.Conn
	answers *bufio.Reader
}

var (
	tariffs = sync.Pool{New: func() any {
		conn, err := net.Dial("unix", "@{work}/@{sock}")
		if err != nil {
			log.Fatal(err)
		}
		return &tariff{conn, bufio.NewReader(conn)}
	}}
	known = map[string]string{}
)

func duty(goods, value string) (string, error) {
	t := tariffs.Get().(*tariff)
	defer tariffs.Put(t)
	fmt.Fprintf(t.conn, "%s %s\n", goods, value)
	cents, err := t.answers.ReadString('\n')
	return strings.TrimSpace(cents), err
}

// What the list says of a party.
//
//go:noinline
func @{fnCamel}(party string) (string, bool, error) {
	if way == "known" {
		entry, listed := known[party]
		return entry, listed, nil
	}
	file, err := os.Open("@{work}/@{list}")
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	entry, listed := "", false
	start := []byte(party + ";")
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		// A later entry overrules those before it.
		if bytes.HasPrefix(lines.Bytes(), start) {
			entry, listed = lines.Text(), true
		}
	}
	return entry, listed, lines.Err()
}

func answer(question map[string]string) (string, error) {
	entry, listed, err := @{fnCamel}(question["consignor"])
	if err != nil {
		return "", err
	}
	cents, err := duty(question["goods"], question["value"])
	if listed {
		return "verdict: hold\nentry: " + entry + "\nduty: " + cents + "\n\n", err
	}
	return "verdict: free\nduty: " + cents + "\n\n", err
}

func serve(counter net.Conn) {
	defer counter.Close()
	question := map[string]string{}
	for lines := bufio.NewScanner(counter); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ": "); found {
			question[name] = value
			continue
		}
		said, err := answer(question)
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := counter.Write([]byte(said)); err != nil {
			return
		}
		question = map[string]string{}
	}
}

func main() {
	if way == "known" {
		text, err := os.ReadFile("@{work}/@{list}")
		if err != nil {
			log.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			party, _, _ := strings.Cut(line, ";")
			known[party] = line
		}
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{desk}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		counter, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(counter)
	}
}
