package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

// Journal copies the audit events of one evening run to the bus.
type Journal struct {
	conn    net.Conn
	in      *bufio.Reader
	out     *bufio.Writer
	acks    chan uint64
	sent    uint64
	settled uint64
}

func text(s string) string { return string([]byte{byte(len(s))}) + s }

func blob(s string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func (j *Journal) frame(kind byte, channel uint16, payload string) {
	head := []byte{kind, byte(channel >> 8), byte(channel), 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[3:], uint32(len(payload)))
	j.out.Write(head)
	j.out.WriteString(payload)
	j.out.WriteByte(0xce)
}

func (j *Journal) call(channel uint16, class, method byte, arguments string, answer byte) []byte {
	j.frame(1, channel, string([]byte{0, class, 0, method})+arguments)
	j.out.Flush()
	if answer == 0 {
		return nil
	}
	return j.next(answer)
}

func (j *Journal) next(method byte) []byte {
	var head [7]byte
	if _, err := io.ReadFull(j.in, head[:]); err != nil {
		log.Fatal(err)
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	io.ReadFull(j.in, payload)
	if head[0] != 1 || payload[3] != method {
		log.Fatalf("unexpected frame: %q", payload)
	}
	return payload[4:]
}

func connect(address string) *Journal {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	j := &Journal{conn: conn, in: bufio.NewReaderSize(conn, 1<<16), out: bufio.NewWriterSize(conn, 1<<16), acks: make(chan uint64, 256)}
	j.out.WriteString("AMQP\x00\x00\x09\x01")
	j.out.Flush()
	j.next(10)
	tune := j.call(0, 10, 11, blob("")+text("PLAIN")+blob("\x00guest\x00guest")+text("en_US"), 30)
	j.call(0, 10, 31, string(tune[:6])+"\x00\x00", 0)
	j.call(0, 10, 40, text("/")+"\x00\x00", 41)
	j.call(1, 20, 10, "\x00", 11)
	limit := text("x-max-length") + "I" + "\x00\x00\x20\x00"
	j.call(1, 50, 10, "\x00\x00"+text("@{queue}")+"\x00"+blob(limit), 11)
	j.call(1, 85, 10, "\x00", 11)
	go func() {
		for {
			j.acks <- binary.BigEndian.Uint64(j.next(80))
		}
	}()
	return j
}

func (j *Journal) put(event []byte) {
	j.frame(1, 1, "\x00\x3c\x00\x28\x00\x00"+text("")+text("@{queue}")+"\x00")
	j.frame(2, 1, "\x00\x3c\x00\x00"+string(binary.BigEndian.AppendUint64(nil, uint64(len(event))))+"\x00\x00")
	j.frame(3, 1, string(event))
	j.sent++
}

func (j *Journal) settle() {
	j.out.Flush()
	for j.settled < j.sent {
		j.settled = max(j.settled, <-j.acks)
	}
}

func max(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}

func @{fnCamel}(run, n int) []byte {
	event := []byte(fmt.Sprintf("run=%d;event=%d;actor=user%d;text=%s", run, n, n%97, strings.Repeat("a", @{bytes})))
	sum := sha256.Sum256(event)
	for i := 0; i < 4*@{checks}; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return append(event, bytes.ToUpper([]byte(fmt.Sprintf(";sum=%x", sum)))...)
}

func main() {
	journal := connect("127.0.0.1:@{port}")
	due := time.Now()
	end := due.Add(time.Duration(@{seconds} * float64(time.Second)))
	var busy, culprit time.Duration
	runs := 0
	for ; time.Now().Before(end); runs++ {
		start := time.Now()
		for n := 1; n <= @{count}; n++ {
			event := @{fnCamel}(runs, n)
			asked := time.Now()
			journal.put(event)
			if n%@{window} == 0 || n == @{count} {
				journal.settle()
			}
			culprit += time.Since(asked)
		}
		busy += time.Since(start)
		due = due.Add(@{period_ms} * time.Millisecond)
		time.Sleep(time.Until(due))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, runs, busy.Seconds(), culprit.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
