// Prints the badges of a fair: the name, the hall, and a seal that the gate checks.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha512"
	"crypto/sha256"
	"fmt"
	"log"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
)

type guest struct {
	number int
	name   string
	hall   int
}

type office struct {
	guests []guest
	mutex  sync.Mutex
	list   string
}

func newOffice(count int) *office {
	o := &office{}
	for i := 0; i < count; i++ {
		o.guests = append(o.guests, guest{i, fmt.Sprintf("Guest %c. %d", 'A'+i%26, i*37%9973), 1 + i%12})
	}
	return o
}

func (g guest) text() string { return fmt.Sprintf("%06d|%s|hall %d", g.number, strings.ToUpper(g.name), g.hall) }

func @{fnCamel}(text []byte) (string, error) {
	command := exec.Command("@{tool}")
	command.Stdin = bytes.NewReader(text)
	out, err := command.Output()
	if err != nil {
		return "", err
	}
	return string(out[:16]), nil
}

func byLibrary(text []byte) string {
	sum := ""
	switch "@{bits}" {
	case "224":
		sum = fmt.Sprintf("%x", sha256.Sum224(text))
	case "384":
		sum = fmt.Sprintf("%x", sha512.Sum384(text))
	default:
		sum = fmt.Sprintf("%x", sha512.Sum512(text))
	}
	return sum[:16]
}

func (o *office) seal(text string) (string, error) {
	if "@{seal}" == "program" {
		return @{fnCamel}([]byte(text))
	}
	return byLibrary([]byte(text)), nil
}

// The gates fetch the seal of the list, to see that theirs is the newest.
func (o *office) sealList() {
	for {
		var all bytes.Buffer
		for _, g := range o.guests {
			fmt.Fprintln(&all, g.text())
		}
		sum, err := @{fnCamel}(all.Bytes())
		if err != nil {
			log.Print(err)
		}
		o.mutex.Lock()
		o.list = sum
		o.mutex.Unlock()
		time.Sleep(4 * time.Second)
	}
}

func (o *office) talk(client net.Conn) {
	defer client.Close()
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		number := 0
		if _, err := fmt.Sscanf(lines.Text(), "badge %d", &number); err != nil {
			fmt.Fprintln(client, "error: badge NUMBER")
			continue
		}
		text := o.guests[number%len(o.guests)].text()
		seal, err := o.seal(text)
		if err != nil {
			log.Print(err)
		}
		fmt.Fprintf(client, "%s|%s\n", text, seal)
	}
}

func main() {
	o := newOffice(@{guests})
	if "@{seal}" == "list" {
		go o.sealList()
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go o.talk(client)
	}
}
