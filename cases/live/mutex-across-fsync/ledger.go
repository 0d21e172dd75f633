// A service that keeps a ledger: ledger PORT FILE [grouped]. Each order is a line in FILE, on the disk before it is confirmed; a
// mutex guards the ledger, and is held while the disk works. With "grouped" one sync serves all orders that wait for it.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

type ledger struct {
	mutex  sync.Mutex
	file   *os.File
	orders int
	// Where syncs are grouped: who waits for the next one.
	waiting []chan struct{}
	wake    chan struct{}
}

func (l *ledger) line() {
	l.orders++
	fmt.Fprintf(l.file, "order %d\n", l.orders)
}

func (l *ledger) order() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.line()
	l.file.Sync()
}

func (l *ledger) orderGrouped() {
	done := make(chan struct{})
	l.mutex.Lock()
	l.line()
	l.waiting = append(l.waiting, done)
	l.mutex.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	<-done
}

func (l *ledger) syncGroups() {
	for range l.wake {
		l.mutex.Lock()
		group := l.waiting
		l.waiting = nil
		l.mutex.Unlock()
		if len(group) > 0 {
			l.file.Sync()
		}
		for _, done := range group {
			close(done)
		}
	}
}

func serve(client net.Conn, order func()) {
	defer client.Close()
	in := bufio.NewReader(client)
	for {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.TrimSpace(line) == "" {
				break
			}
		}
		order()
		fmt.Fprint(client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
	}
}

func main() {
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	l := &ledger{file: file, wake: make(chan struct{}, 1)}
	order := l.order
	if len(os.Args) > 3 {
		order = l.orderGrouped
		go l.syncGroups()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(client, order)
	}
}
