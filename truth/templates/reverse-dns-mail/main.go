// Takes the mail of a company's branches and puts it into the queue of the outgoing server.
package main

import (
	"bufio"
	"context"
	"crypto/sha1"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type relay struct {
	names *net.Resolver
	lock  sync.Mutex
	count map[string]int
	later chan string
	log   *log.Logger
}

func newRelay() *relay {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", "@{ns}:53")
	}
	out, err := os.Create("@{work}/relay.log")
	if err != nil {
		log.Fatal(err)
	}
	return &relay{
		names: &net.Resolver{PreferGo: true, Dial: dial},
		count: map[string]int{},
		later: make(chan string, 4096),
		log:   log.New(out, "", log.LstdFlags),
	}
}

func (r *relay) @{fnCamel}(address string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	found, err := r.names.LookupAddr(ctx, address)
	if err != nil || len(found) == 0 {
		return "[" + address + "]"
	}
	return strings.TrimSuffix(found[0], ".")
}

func (r *relay) mayDeliver(host, command string) bool {
	_, size, ok := strings.Cut(command, "SIZE=")
	if bytes, err := strconv.Atoi(strings.TrimSpace(size)); !ok || err != nil || bytes > 100000 {
		return false
	}
	bad := 0
	for number := 0; number < @{rules}*20; number++ {
		mark := sha1.Sum([]byte(host + strconv.Itoa(number)))
		if mark[0] < 2 {
			bad++
		}
	}
	return bad < @{rules}*20
}

func (r *relay) greet(conn net.Conn, in *bufio.Scanner) (string, bool) {
	if !in.Scan() {
		return "", false
	}
	words := strings.Fields(in.Text())
	if len(words) < 3 || words[0] != "PROXY" {
		return "", false
	}
	host := words[2]
	switch "@{names}" {
	case "first":
		host = r.@{fnCamel}(host)
	case "later":
		select {
		case r.later <- host:
		default:
		}
	}
	fmt.Fprintf(conn, "220 relay.example.net at your service, %s\r\n", host)
	return host, true
}

func (r *relay) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	host, ok := r.greet(conn, in)
	for ok && in.Scan() {
		answer := "550 not from you"
		if r.mayDeliver(host, in.Text()) {
			answer = "250 OK"
		}
		r.log.Print(host, " ", answer)
		r.lock.Lock()
		r.count[host]++
		r.lock.Unlock()
		fmt.Fprintf(conn, "%s\r\n", answer)
	}
}

// The names for the statistics of the night: nobody waits for them.
func (r *relay) statistics() {
	for address := range r.later {
		name := r.@{fnCamel}(address)
		r.lock.Lock()
		r.count[name]++
		r.lock.Unlock()
		time.Sleep(300 * time.Millisecond)
	}
}

func main() {
	r := newRelay()
	go r.statistics()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go r.serve(conn)
	}
}
