package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Bus carries calls: each waits on a channel of its own until the dispatcher has its answer.
type Bus struct {
	conn     net.Conn
	in       *bufio.Reader
	mutex    sync.Mutex
	number   int
	waiting  map[string]chan string
	invoices chan string
}

func short(s string) string { return string([]byte{byte(len(s))}) + s }

func long(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }

func frame(kind, channel byte, payload string) string {
	return string([]byte{kind, 0, channel}) + long(payload) + "\xce"
}

func method(channel, class, number byte, arguments string) string {
	return frame(1, channel, string([]byte{0, class, 0, number})+arguments)
}

func (b *Bus) read() string {
	var head [7]byte
	if _, err := io.ReadFull(b.in, head[:]); err != nil {
		os.Exit(1)
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	io.ReadFull(b.in, payload)
	return string(payload[:len(payload)-1])
}

func (b *Bus) ask(text string) string {
	io.WriteString(b.conn, text)
	return b.read()
}

func dial(address string) *Bus {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	b := &Bus{conn: conn, in: bufio.NewReader(conn), waiting: map[string]chan string{}, invoices: make(chan string, 64)}
	b.ask("AMQP\x00\x00\x09\x01")
	tune := b.ask(method(0, 10, 11, long("")+short("PLAIN")+long("\x00guest\x00guest")+short("en_US")))
	b.ask(method(0, 10, 31, tune[4:10]+"\x00\x00") + method(0, 10, 40, short("/")+"\x00\x00"))
	b.ask(method(1, 20, 10, "\x00"))
	b.ask(method(1, 60, 20, "\x00\x00"+short("amq.rabbitmq.reply-to")+short("answers")+"\x02"+long("")))
	if "@{feed}" == "pushed" {
		b.ask(method(1, 60, 20, "\x00\x00"+short("@{queue}.invoices")+short("invoices")+"\x02"+long("")))
	}
	go b.dispatch()
	return b
}

func (b *Bus) dispatch() {
	for {
		deliver, head, body := b.read(), b.read(), b.read()
		if strings.HasPrefix(deliver[4:], "\x08invoices") {
			b.invoices <- body
			continue
		}
		id := head[15 : 15+int(head[14])]
		b.mutex.Lock()
		answer := b.waiting[id]
		delete(b.waiting, id)
		b.mutex.Unlock()
		answer <- body
	}
}

func (b *Bus) @{fnCamel}(text string) string {
	answer := make(chan string, 1)
	b.mutex.Lock()
	b.number++
	id := fmt.Sprint("c", b.number)
	b.waiting[id] = answer
	properties := "\x00\x3c\x00\x00" + string(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) + "\x06\x00" + short(id) + short("amq.rabbitmq.reply-to")
	io.WriteString(b.conn, method(1, 60, 40, "\x00\x00"+short("")+short("@{queue}")+"\x00")+frame(2, 1, properties)+frame(3, 1, text))
	b.mutex.Unlock()
	return <-answer
}

func clerk(b *Bus, number int, end time.Time, totals chan [3]float64) {
	known := map[int]string{}
	var units, busy, culprit float64
	due := time.Now().Add(time.Duration(number) * @{period_ms} * time.Millisecond)
	for n := number; time.Now().Before(end); units++ {
		if "@{feed}" == "pushed" {
			select {
			case <-b.invoices:
			case <-time.After(time.Until(end)):
				units--
				continue
			}
		} else {
			time.Sleep(time.Until(due))
		}
		start := time.Now()
		for line := 0; line < @{lines}; line++ {
			asked, country := time.Now(), n%@{distinct}
			if _, ok := known[country]; !ok {
				known[country] = b.@{fnCamel}(fmt.Sprint("country=", country))
			}
			culprit += time.Since(asked).Seconds()
			sheet := sha256.Sum256([]byte(known[country]))
			for i := 0; i < @{own_us}*8/@{lines}; i++ {
				sheet = sha256.Sum256(sheet[:])
			}
			n += 2
		}
		busy += time.Since(start).Seconds()
		due = due.Add(2 * @{period_ms} * time.Millisecond)
	}
	totals <- [3]float64{units, busy, culprit}
}

func main() {
	bus := dial("127.0.0.1:@{port}")
	end := time.Now().Add(time.Duration(@{seconds} * float64(time.Second)))
	totals := make(chan [3]float64)
	go clerk(bus, 0, end, totals)
	go clerk(bus, 1, end, totals)
	a, b := <-totals, <-totals
	report := fmt.Sprintf(`{"units": %.0f, "seconds": %f, "culprit": %f}`, a[0]+b[0], a[1]+b[1], a[2]+b[2])
	os.WriteFile("@{report}", []byte(report), 0o644)
}
