// Stands for the printer: head (size of the picture, copies, number), picture; then it says which one is done.
package main

import (
	"encoding/binary"
	"io"
	"log"
	"net"
	"time"
)

// How long the drum turns for a label.
var pace = @{print} * float64(time.Millisecond)

func spool(from net.Conn) {
	defer from.Close()
	head := make([]byte, 12)
	for {
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		picture := make([]byte, binary.BigEndian.Uint32(head))
		if _, err := io.ReadFull(from, picture); err != nil {
			return
		}
		time.Sleep(time.Duration(pace))
		if _, err := from.Write(head[8:]); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:@{printer}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		from, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go spool(from)
	}
}
