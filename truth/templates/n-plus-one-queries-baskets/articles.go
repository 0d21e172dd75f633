// The store of articles. A frame: magic 0xA7 (1), how many keys (2), then the keys (8 each), all big-endian.
// The answer: magic (1), how many (2), then for each the cents (4), the text's length (2), the text.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"log"
	"net"
	"time"
)

var text = bytes.Repeat([]byte("article "), @{bytes}/8+1)[:@{bytes}]

func milliseconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Millisecond))
}

func serve(client net.Conn) {
	defer client.Close()
	in := bufio.NewReader(client)
	for {
		var head [3]byte
		if _, err := io.ReadFull(in, head[:]); err != nil || head[0] != 0xA7 {
			return
		}
		keys := make([]byte, 8*int(binary.BigEndian.Uint16(head[1:])))
		if _, err := io.ReadFull(in, keys); err != nil {
			return
		}
		// A page of the disk's, whichever and how many they are.
		time.Sleep(milliseconds(@{answer}))
		answer := append([]byte{}, head[:]...)
		for ; len(keys) > 0; keys = keys[8:] {
			answer = binary.BigEndian.AppendUint32(answer, uint32(binary.BigEndian.Uint64(keys)*131%9973))
			answer = binary.BigEndian.AppendUint16(answer, uint16(len(text)))
			answer = append(answer, text...)
		}
		if _, err := client.Write(answer); err != nil {
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
		go serve(client)
	}
}
