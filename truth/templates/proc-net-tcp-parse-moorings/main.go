// The gate of the harbour's radio: a vessel asks to be let in, and is, as long as there is room on the links.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

const capacity = 60000

type Gate struct {
	mu     sync.Mutex
	passes map[string]string
}

func (g *Gate) @{fnCamel}() (int, error) {
	if "@{from}" == "summary" {
		return inUse()
	}
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	open := 0
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 10 || fields[0] == "sl" {
			continue
		}
		local := strings.Split(fields[1], ":")
		if port, err := strconv.ParseUint(local[1], 16, 16); err == nil && fields[3] == "01" && port > 0 {
			open++
		}
	}
	return open, nil
}

func inUse() (int, error) {
	text, err := os.ReadFile("/proc/net/sockstat")
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		var count int
		if _, err := fmt.Sscanf(line, "TCP: inuse %d", &count); err == nil {
			return count, nil
		}
	}
	return 0, fmt.Errorf("sockstat without TCP")
}

func issue(vessel string) string {
	sum := sha256.Sum256([]byte(vessel))
	for i := 0; i < @{rounds}; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return hex.EncodeToString(sum[:8])
}

func (g *Gate) admit(vessel string) string {
	open, err := g.@{fnCamel}()
	if err != nil {
		return "error " + err.Error()
	}
	if open >= capacity {
		return "wait"
	}
	pass := issue(vessel)
	g.mu.Lock()
	g.passes[vessel] = pass
	g.mu.Unlock()
	return "pass " + pass
}

func (g *Gate) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		words := strings.Fields(in.Text())
		answer := "error what"
		if len(words) == 2 && words[0] == "@{verb}" {
			answer = g.admit(words[1])
		}
		if _, err := conn.Write([]byte(answer + "\n")); err != nil {
			return
		}
	}
}

func main() {
	gate := &Gate{passes: map[string]string{}}
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go gate.serve(conn)
	}
}
