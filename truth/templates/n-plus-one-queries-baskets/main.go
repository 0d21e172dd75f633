// Shows baskets: what is in them, and what it costs.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"strconv"
	"strings"
)

type article struct {
	cents uint32
	text  string
}

type store struct {
	conn net.Conn
	in   *bufio.Reader
}

func (s *store) get(keys ...uint64) ([]article, error) {
	frame := binary.BigEndian.AppendUint16([]byte{0xA7}, uint16(len(keys)))
	for _, key := range keys {
		frame = binary.BigEndian.AppendUint64(frame, key)
	}
	if _, err := s.conn.Write(frame); err != nil {
		return nil, err
	}
	if _, err := s.in.Discard(3); err != nil {
		return nil, err
	}
	articles := make([]article, 0, len(keys))
	for range keys {
		var head [6]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return nil, err
		}
		text := make([]byte, binary.BigEndian.Uint16(head[4:]))
		if _, err := io.ReadFull(s.in, text); err != nil {
			return nil, err
		}
		articles = append(articles, article{binary.BigEndian.Uint32(head[:]), string(text)})
	}
	return articles, nil
}

func basket(number int) []uint64 {
	keys := make([]uint64, @{lines})
	for i := range keys {
		keys[i] = uint64((number*1009 + i*97) % 100003)
	}
	return keys
}

func @{fnCamel}(s *store, keys []uint64) (total uint64, err error) {
	if "@{ask}" == "all" {
		articles, err := s.get(keys...)
		for _, a := range articles {
			total += uint64(a.cents)
		}
		return total, err
	}
	for _, key := range keys {
		articles, err := s.get(key)
		if err != nil {
			return 0, err
		}
		total += uint64(articles[0].cents)
	}
	return total, nil
}

func serve(client net.Conn) {
	defer client.Close()
	conn, err := net.Dial("unix", "@{work}/@{sock}")
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	s := &store{conn, bufio.NewReaderSize(conn, 65536)}
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		_, number, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(number)
		total, err := @{fnCamel}(s, basket(n))
		if err != nil {
			return
		}
		fmt.Fprintf(client, "total %d\n", total)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client)
	}
}
