// The relay of the valley: knows which station has which slope. A question and an answer are a line each.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"strings"
	"sync"
)

type station struct {
	address string
	mutex   sync.Mutex
	idle    []*bufio.ReadWriter
}

func (s *station) take() (*bufio.ReadWriter, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if n := len(s.idle); n > 0 {
		line := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return line, nil
	}
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	return bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)), nil
}

func (s *station) profile(slope int) ([]string, error) {
	line, err := s.take()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(line, "profile %d\n", slope)
	if err := line.Flush(); err != nil {
		return nil, err
	}
	var layers []string
	for {
		text, err := line.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if text == ".\n" {
			break
		}
		layers = append(layers, strings.ReplaceAll(strings.TrimSpace(text), " ", ":"))
	}
	s.mutex.Lock()
	s.idle = append(s.idle, line)
	s.mutex.Unlock()
	return layers, nil
}

func serve(conn net.Conn, s *station) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		var slope int
		if _, err := fmt.Sscanf(in.Text(), "slope %d", &slope); err != nil {
			return
		}
		layers, err := s.profile(slope)
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := fmt.Fprintf(conn, "%d %s\n", slope, strings.Join(layers, " ")); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{relay}")
	if err != nil {
		log.Fatal(err)
	}
	s := &station{address: "127.0.0.1:@{station}"}
	for {
		conn, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn, s)
	}
}
