// Gets pictures from a camera, stamps them, and gives them to the recorder.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"os"
	"time"
)

type camera struct {
	picture []byte
	sending time.Duration
}

func (c *camera) shoot(number int) []byte {
	for i := 0; i < len(c.picture); i += 64 {
		c.picture[i] = byte(i*number + number>>3)
	}
	copy(c.picture[4:], time.Now().Format(time.RFC3339Nano))
	size := len(c.picture) / @{shrink}
	binary.BigEndian.PutUint32(c.picture, uint32(size-4))
	return c.picture[:size]
}

//go:noinline
func (c *camera) @{fnCamel}(recorder net.Conn, picture []byte) error {
	start := time.Now()
	_, err := recorder.Write(picture)
	c.sending += time.Since(start)
	return err
}

func main() {
	recorder, err := net.Dial("tcp", "127.0.0.1:@{recorder}")
	if err != nil {
		log.Fatal(err)
	}
	recorder.(*net.TCPConn).SetWriteBuffer(512 << 10)
	yard := &camera{picture: make([]byte, @{kilobytes}<<10)}
	begin, busy, units := time.Now(), time.Duration(0), 0
	for time.Since(begin).Seconds() < @{seconds} {
		start := time.Now()
		if err := yard.@{fnCamel}(recorder, yard.shoot(units)); err != nil {
			log.Fatal(err)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), yard.sending.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
