// Collects readings. A frame: how long the rest is (4 bytes), the meter (4), then for each reading its time (4) and watts (4), all big-endian.
// The receipt: how many (4), and a sum over them (4).
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"log"
	"net"
)

func serve(client net.Conn, keep map[uint32]uint64) {
	defer client.Close()
	in := bufio.NewReaderSize(client, 1<<16)
	for {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		meter := binary.BigEndian.Uint32(head[4:])
		body := make([]byte, binary.BigEndian.Uint32(head[:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		sum, count := uint32(0), len(body)/8
		for ; len(body) >= 8; body = body[8:] {
			watts := binary.BigEndian.Uint32(body[4:])
			sum += watts
			keep[meter] += uint64(watts)
		}
		receipt := binary.BigEndian.AppendUint32(nil, uint32(count))
		if _, err := client.Write(binary.BigEndian.AppendUint32(receipt, sum)); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("unix", "@{work}/@{sock}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client, map[uint32]uint64{})
	}
}
