// The assessor: an SCGI service that says what a house may be worth, by the sales of houses that are alike.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

type sale struct {
	parish, rooms, year int
	metres, price       float64
}

var (
	sales    []sale
	byParish = map[int][]sale{}
)

func learn() {
	draw := uint32(2463534242)
	next := func(n uint32) int {
		draw ^= draw << 13
		draw ^= draw >> 17
		draw ^= draw << 5
		return int(draw % n)
	}
	for i := 0; i < @{known}; i++ {
		one := sale{parish: next(@{parishes}), rooms: 1 + next(9), year: 1880 + next(140)}
		one.metres = float64(15*one.rooms + next(60))
		one.price = one.metres * float64(900+next(3800))
		sales = append(sales, one)
		byParish[one.parish] = append(byParish[one.parish], one)
	}
}

// The mean price of a square metre, each sale counting by how alike it is.
//
//go:noinline
func @{fnCamel}(house sale, among []sale) float64 {
	sum, weight := 0.0, 0.0
	for _, one := range among {
		apart := math.Abs(house.metres-one.metres)/20 + math.Abs(float64(house.rooms-one.rooms)) + math.Abs(float64(house.year-one.year))/15
		if one.parish != house.parish {
			apart += 12
		}
		alike := math.Exp(-apart)
		sum += alike * one.price / one.metres
		weight += alike
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// One request: a netstring of names and values, each ended by a zero byte.
func headers(in *bufio.Reader) (map[string]string, error) {
	size, err := in.ReadString(':')
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil {
		return nil, err
	}
	text := make([]byte, length+1)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	words := strings.Split(string(text[:length]), "\x00")
	found := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		found[words[i]] = words[i+1]
	}
	return found, nil
}

func serve(conn net.Conn) {
	defer conn.Close()
	asked, err := headers(bufio.NewReader(conn))
	if err != nil {
		log.Print(err)
		return
	}
	if asked["PATH_INFO"] == "/guidelines" {
		time.Sleep(time.Duration(@{hold} * float64(time.Millisecond)))
		fmt.Fprint(conn, "Status: 200 OK\r\n\r\nno news\n")
		return
	}
	query, _ := url.ParseQuery(asked["QUERY_STRING"])
	number := func(name string) int { n, _ := strconv.Atoi(query.Get(name)); return n }
	house := sale{parish: number("parish"), rooms: number("rooms"), year: number("year"), metres: float64(number("metres"))}
	among := sales
	if "@{by}" == "parish" {
		among = byParish[house.parish]
	}
	fmt.Fprintf(conn, "Status: 200 OK\r\nContent-Type: text/plain\r\n\r\n%.2f\n", @{fnCamel}(house, among))
}

func main() {
	learn()
	door, err := net.Listen("unix", "@{work}/@{sock}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}
