// Three solar parks, a port each: a datagram asks for the registers of an inverter. What comes from the third goes by radio.
package main

import (
	"encoding/binary"
	"log"
	"net"
	"os"
	"time"
)

const lost = @{lost}

func park(port int, radio bool) {
	place, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		question := make([]byte, 256)
		for asked := 1; ; asked++ {
			n, who, err := place.ReadFromUDPAddrPort(question)
			if err != nil || n < 12 {
				continue
			}
			if radio && lost > 0 && asked%max(lost, 1) == 0 {
				continue
			}
			inverter, count := int(question[6]), int(binary.BigEndian.Uint16(question[10:]))
			answer := append([]byte{}, question[:8]...)
			answer = append(answer, byte(count*2))
			for register := 0; register < count; register++ {
				answer = binary.BigEndian.AppendUint16(answer, uint16(inverter*257+register*7919+asked))
			}
			binary.BigEndian.PutUint16(answer[4:], uint16(len(answer)-6))
			go func() {
				time.Sleep(time.Duration(@{taking} * float64(time.Millisecond)))
				place.WriteToUDPAddrPort(answer, who)
			}()
		}
	}()
}

func main() {
	park(@{quarry}, false)
	park(@{meadow}, false)
	park(@{heath}, true)
	if err := os.WriteFile("@{work}/parks.ready", nil, 0o644); err != nil {
		log.Fatal(err)
	}
	select {}
}
