// The keeper of the waters. A question is a length (4 bytes, the highest first) and as much JSON, and so is the answer.
package main

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"log"
	"net"
	"time"
)

type question struct {
	Lake   int `json:"lake"`
	Angler int `json:"angler"`
}

func serve(office net.Conn) {
	defer office.Close()
	for {
		var length uint32
		if binary.Read(office, binary.BigEndian, &length) != nil || length > 1<<16 {
			return
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(office, text); err != nil {
			return
		}
		var asked question
		if json.Unmarshal(text, &asked) != nil {
			return
		}
		time.Sleep(time.Duration(@{delay} * float64(time.Millisecond)))
		answer, _ := json.Marshal(map[string]any{"open": asked.Lake%11 != 0, "pikes": asked.Angler % 4, "until": 1000 + asked.Lake%365})
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...)
		if _, err := office.Write(frame); err != nil {
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
		office, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(office)
	}
}
