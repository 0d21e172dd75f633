// Sells tickets to kiosks. The sales go to standard output, which is the pipe to the archive.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
)

type sale struct {
	Sold    int64  `json:"sold"`
	Zone    string `json:"zone"`
	Cents   int    `json:"cents"`
	Receipt string `json:"receipt"`
}

var (
	sold   atomic.Int64
	layout = strings.Repeat("= valid today on all lines ", @{bytes}/27+1)[:@{bytes}]
)

//go:noinline
func @{fnCamel}(ticket sale) error {
	line, err := json.Marshal(ticket)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

func price(zone string) int {
	cents := 170
	for _, letter := range zone {
		cents = (cents*31 + int(letter)) % 2000
	}
	return cents + 100
}

func serve(kiosk net.Conn) {
	defer kiosk.Close()
	lines := bufio.NewScanner(kiosk)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		ticket := sale{Sold: sold.Add(1), Zone: words[1], Cents: price(words[1]), Receipt: layout}
		if ticket.Sold%@{every} == 0 {
			if err := @{fnCamel}(ticket); err != nil {
				log.Fatal(err)
			}
		}
		fmt.Fprintf(kiosk, "ticket %d %d\n", ticket.Sold, ticket.Cents)
	}
}

func main() {
	pipe, err := syscall.Open("@{work}/@{pipe}", syscall.O_WRONLY, 0)
	if err == nil {
		err = syscall.Dup3(pipe, 1, 0)
	}
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		kiosk, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(kiosk)
	}
}
