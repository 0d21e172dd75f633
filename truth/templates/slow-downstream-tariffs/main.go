// The counter of a parcel shop: what do these parcels cost together?
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

type parcel struct {
	grams uint32
	zone  uint16
}

type desk struct {
	pricing net.Conn
	number  uint32
}

func (d *desk) quote(list []parcel) (uint32, error) {
	var frames []byte
	for _, p := range list {
		d.number++
		frames = binary.BigEndian.AppendUint32(frames, 10)
		frames = binary.BigEndian.AppendUint32(frames, d.number)
		frames = binary.BigEndian.AppendUint32(frames, p.grams)
		frames = binary.BigEndian.AppendUint16(frames, p.zone)
	}
	if _, err := d.pricing.Write(frames); err != nil {
		return 0, err
	}
	answers := make([]byte, 12*len(list))
	if _, err := io.ReadFull(d.pricing, answers); err != nil {
		return 0, err
	}
	var total uint32
	for i := 8; i < len(answers); i += 12 {
		total += binary.BigEndian.Uint32(answers[i:])
	}
	return total, nil
}

func parcels(order int) []parcel {
	list := make([]parcel, @{parcels})
	for i := range list {
		n := order*31 + i*7919
		list[i] = parcel{uint32(150 + n*37%30000), uint16(n % @{zones})}
	}
	return list
}

func serve(client net.Conn) {
	defer client.Close()
	pricing, err := net.Dial("tcp", "127.0.0.1:@{pricing}")
	if err != nil {
		log.Print(err)
		return
	}
	defer pricing.Close()
	d := desk{pricing: pricing}
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		order, _ := strconv.Atoi(fields[len(fields)-1])
		total, err := d.quote(parcels(order))
		if err != nil {
			return
		}
		fmt.Fprintf(client, "total %d.%02d\n", total/100, total%100)
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
