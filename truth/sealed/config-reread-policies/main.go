// Doors: a badge is held to one, and it opens or not.
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

func admits(gate net.Conn, door uint16, badge uint32) (bool, error) {
	frame := binary.BigEndian.AppendUint16(nil, door)
	frame = binary.BigEndian.AppendUint32(frame, badge)
	if _, err := gate.Write(frame); err != nil {
		return false, err
	}
	var answer [5]byte
	_, err := io.ReadFull(gate, answer[:])
	return answer[4] == 1, err
}

func serve(client net.Conn) {
	defer client.Close()
	gate, err := net.Dial("tcp", "127.0.0.1:@{gate}")
	if err != nil {
		log.Print(err)
		return
	}
	defer gate.Close()
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		_, number, _ := strings.Cut(lines.Text(), " ")
		badge, _ := strconv.Atoi(number)
		open, err := admits(gate, uint16(badge%40), uint32(badge))
		if err != nil {
			return
		}
		fmt.Fprintf(client, "open %v\n", open)
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
