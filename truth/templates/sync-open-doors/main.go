// Entrance control: a reader sends a badge's number, and gets whether the door opens. What was asked and decided is logged.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	logs   *os.File
	lock   sync.Mutex
	parts  []string
	pace   = @{pace} * float64(time.Second)
	filler = strings.Repeat("zone=north level=2 ", 60)
)

//go:noinline
func @{fnCamel}(door, step int, badge string) {
	line := fmt.Sprintf("%s door=%d step=%d %s %s", time.Now().Format(time.RFC3339Nano), door, step, badge, filler)[:@{bytes}] + "\n"
	if "@{durable}" == "collected" {
		lock.Lock()
		parts = append(parts, line)
		lock.Unlock()
		return
	}
	if _, err := logs.WriteString(line); err != nil {
		log.Fatal(err)
	}
}

func keep() {
	for range time.Tick(time.Duration(pace)) {
		if "@{durable}" == "keeper" {
			logs.Sync()
			continue
		}
		lock.Lock()
		all := strings.Join(parts, "")
		parts = nil
		lock.Unlock()
		logs.WriteString(all)
	}
}

func allowed(badge string) bool {
	sum := 0
	for _, letter := range badge {
		sum = sum*31 + int(letter)
	}
	return sum%7 != 0
}

func serve(reader net.Conn, door int) {
	defer reader.Close()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		badge, answer := lines.Text(), "open"
		if !allowed(badge) {
			answer = "refused"
		}
		for step := 0; step < @{lines}; step++ {
			@{fnCamel}(door, step, badge)
		}
		fmt.Fprintf(reader, "%s %s\n", badge, answer)
	}
}

func main() {
	mode := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if "@{durable}" != "keeper" {
		mode |= os.O_SYNC
	}
	var err error
	if logs, err = os.OpenFile("@{work}/@{log}", mode, 0o600); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	if "@{durable}" != "line" {
		go keep()
	}
	for door := 1; ; door++ {
		reader, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(reader, door)
	}
}
