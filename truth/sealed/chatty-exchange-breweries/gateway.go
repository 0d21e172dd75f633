// The gateway to the controllers of a brewery's tanks: Modbus over TCP, function 3 (read holding registers).
package main

import (
	"encoding/binary"
	"io"
	"log"
	"math/rand"
	"net"
	"time"
)

func value(tank byte, register int) uint16 {
	return uint16(int(tank)*131 + register*17 + int(time.Now().Unix()%60)*3)
}

func answer(head, ask []byte) []byte {
	first, count := int(binary.BigEndian.Uint16(ask[1:])), int(binary.BigEndian.Uint16(ask[3:]))
	data := []byte{ask[0], byte(2 * count)}
	if ask[0] != 3 || count < 1 || count > 125 {
		data = []byte{ask[0] | 0x80, 3}
	} else {
		for register := first; register < first+count; register++ {
			data = binary.BigEndian.AppendUint16(data, value(head[6], register))
		}
	}
	out := append([]byte{}, head[:4]...)
	out = binary.BigEndian.AppendUint16(out, uint16(1+len(data)))
	return append(append(out, head[6]), data...)
}

func serve(line net.Conn) {
	defer line.Close()
	head, ask := make([]byte, 7), make([]byte, 5)
	for {
		if _, err := io.ReadFull(line, head); err != nil {
			return
		}
		if _, err := io.ReadFull(line, ask); err != nil {
			return
		}
		// The bus behind the gateway.
		time.Sleep(time.Duration(@{way} * float64(time.Millisecond) * (0.8 + 0.4*rand.Float64())))
		if _, err := line.Write(answer(head, ask)); err != nil {
			return
		}
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{gateway}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(line)
	}
}
