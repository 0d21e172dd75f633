// The climate server of the orchid house. "bench N": the state of a bench. "season N": all of its readings.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"math"
	"net"
	"strconv"
	"strings"
)

const rowBytes = 32

type bench struct {
	number   int
	readings []byte // the newest first
}

var benches []bench

func load() {
	var year bytes.Buffer
	for hour := 0; hour < 2000; hour++ {
		line := fmt.Sprintf("%05d;%5.2f;%5.1f", hour, 19+4*math.Sin(float64(hour)/3.8), 70+9*math.Cos(float64(hour)/5))
		fmt.Fprintf(&year, "%-*s\n", rowBytes-1, line)
	}
	all := bytes.Repeat(year.Bytes(), int(@{megabytes}*1e6)/year.Len()+1)
	for n := 0; n < @{benches}; n++ {
		benches = append(benches, bench{n, all[n%50*rowBytes:]})
	}
}

// How dry the air is for the plants: the mean over the newest readings, in kilopascal.
func deficit(readings []byte, count int) float64 {
	sum := 0.0
	for i := 0; i < count; i++ {
		row := strings.Split(strings.TrimSpace(string(readings[i*rowBytes:(i+1)*rowBytes])), ";")
		warm, _ := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		damp, _ := strconv.ParseFloat(strings.TrimSpace(row[2]), 64)
		sum += 0.6108 * math.Exp(17.27*warm/(warm+237.3)) * (1 - damp/100)
	}
	return sum / float64(count)
}

func @{fnCamel}(one bench, scope string) []byte {
	if scope == "season" {
		return one.readings
	}
	return one.readings[:@{hours}*rowBytes]
}

func serve(client net.Conn) {
	defer client.Close()
	in := bufio.NewScanner(client)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) != 2 {
			fmt.Fprint(client, "ERR 0\n")
			continue
		}
		number, _ := strconv.Atoi(words[1])
		one := benches[number%len(benches)]
		scope := "@{scope}"
		if words[0] == "season" {
			scope = "season"
		}
		rows := @{fnCamel}(one, scope)
		head := fmt.Sprintf("OK %d %.3f\n", len(rows), deficit(one.readings, 6))
		parts := net.Buffers{[]byte(head), rows}
		if _, err := parts.WriteTo(client); err != nil {
			return
		}
	}
}

func main() {
	load()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
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
