// The portal of a hotel's wireless network: lets a phone in if there is room for its connections.
package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"strconv"
	"strings"
)

type census struct {
	line   net.Conn
	answer *bufio.Reader
}

func newCensus() (*census, error) {
	line, err := net.Dial("tcp", "127.0.0.1:@{desk}")
	if err != nil {
		return nil, err
	}
	return &census{line, bufio.NewReader(line)}, nil
}

func (c *census) open() (int, error) {
	if _, err := c.line.Write([]byte("open\n")); err != nil {
		return 0, err
	}
	text, err := c.answer.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(text))
}

// The pass that a phone shows from now on.
func pass(room int, phone string) string {
	sum := fnv.New64a()
	for i := 0; i < 50; i++ {
		fmt.Fprintf(sum, "%d/%s/%d", room, phone, i)
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}

func @{fn2}(c *census, phone string) string {
	number, _ := strconv.Atoi(phone)
	open, err := c.open()
	if err != nil {
		return "later"
	}
	if open >= @{most} {
		return "full"
	}
	return "welcome " + pass(number%@{rooms}, phone)
}

func serve(client net.Conn) {
	defer client.Close()
	c, err := newCensus()
	if err != nil {
		log.Print(err)
		return
	}
	defer c.line.Close()
	for lines := bufio.NewScanner(client); lines.Scan(); {
		_, phone, _ := strings.Cut(lines.Text(), " ")
		if _, err := fmt.Fprintln(client, @{fn2}(c, phone)); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client)
	}
}
