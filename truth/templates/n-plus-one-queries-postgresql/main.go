package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// Base speaks the server's simple protocol; rows are slices of texts.
type Base struct {
	line net.Conn
	in   *bufio.Reader
}

func message(kind string, body string) []byte {
	size := binary.BigEndian.AppendUint32([]byte(kind), uint32(len(body)+4))
	return append(size, body...)
}

func open(address, name string) *Base {
	line, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	base := &Base{line, bufio.NewReader(line)}
	line.Write(message("", "\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00application_name\x00"+name+"\x00\x00"))
	base.rows()
	return base
}

func (b *Base) rows() (rows [][]string) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(b.in, head[:]); err != nil {
			panic(err)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		io.ReadFull(b.in, body)
		switch head[0] {
		case 'Z':
			return rows
		case 'E':
			panic(string(body))
		case 'D':
			row := make([]string, binary.BigEndian.Uint16(body))
			body = body[2:]
			for i := range row {
				size := binary.BigEndian.Uint32(body)
				row[i] = string(body[4 : 4+size])
				body = body[4+size:]
			}
			rows = append(rows, row)
		}
	}
}

func (b *Base) @{fnCamel}(where string) [][]string {
	b.line.Write(message("Q", "SELECT owner, text FROM @{table} WHERE owner "+where+" ORDER BY owner, number\x00"))
	return b.rows()
}

func main() {
	base := open("127.0.0.1:@{db}", "@{app}")
	jobs, indexed := make(chan int), make(chan uint64)
	spent := time.Duration(0)
	go func() {
		for first := range jobs {
			began := time.Now()
			var rows [][]string
			var owners []string
			for i := 0; i < @{shown}; i++ {
				owner := fmt.Sprint((first+i)%2000 + 1)
				if @{single} == 1 {
					rows = append(rows, base.@{fnCamel}("= "+owner)...)
				}
				owners = append(owners, owner)
			}
			if @{single} == 0 {
				rows = base.@{fnCamel}("IN (" + strings.Join(owners, ",") + ")")
			}
			spent += time.Since(began)
			sum := fnv.New64a()
			for i := 0; i < @{rounds}; i++ {
				for _, row := range rows {
					io.WriteString(sum, row[1])
				}
			}
			indexed <- sum.Sum64()
		}
	}()
	began, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		jobs <- units * @{orders}
		<-indexed
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{pace} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
