// Mixes the dyes that the vats order: recipes by one mixer, over one balance.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"time"
)

type order struct {
	number, grams int
	done          chan string
}

type balance struct {
	line    net.Conn
	answers *bufio.Reader
	wanted  chan chan float64
	last    float64
}

//go:noinline
func (b *balance) @{fnCamel}() (tare float64) {
	if _, err := b.line.Write([]byte("tare\n")); err != nil {
		log.Fatal(err)
	}
	text, err := b.answers.ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	fmt.Sscanf(text, "rest %f", &tare)
	return tare
}

func (b *balance) keep() {
	if @{ahead} == 0 {
		for answer := range b.wanted {
			answer <- b.@{fnCamel}()
		}
	}
	fresh := make(chan float64, 1)
	go func() {
		for {
			time.Sleep(time.Duration(@{ahead} * float64(time.Second)))
			fresh <- b.@{fnCamel}()
		}
	}()
	for {
		select {
		case b.last = <-fresh:
		case answer := <-b.wanted:
			answer <- b.last
		}
	}
}

// How much of each dye makes the shade of the order.
func recipe(o order, tare float64) float64 {
	sum := tare
	for dye := 1; dye <= @{dyes}; dye++ {
		sum += float64(o.grams) * math.Abs(math.Sin(float64(o.number)*0.7+float64(dye))) / float64(dye)
	}
	return sum
}

func mix(orders <-chan order, scale *balance) {
	tare := make(chan float64)
	for o := range orders {
		scale.wanted <- tare
		o.done <- fmt.Sprintf("mixed %d %.3f\n", o.number, recipe(o, <-tare))
	}
}

func vat(client net.Conn, orders chan<- order) {
	defer client.Close()
	lines := bufio.NewScanner(client)
	done := make(chan string)
	for lines.Scan() {
		o := order{done: done}
		if _, err := fmt.Sscanf(lines.Text(), "mix %d %d", &o.number, &o.grams); err != nil {
			log.Print(err)
			return
		}
		orders <- o
		if _, err := client.Write([]byte(<-done)); err != nil {
			return
		}
	}
}

func main() {
	line, err := net.Dial("tcp", "127.0.0.1:@{scale}")
	if err != nil {
		log.Fatal(err)
	}
	scale := &balance{line: line, answers: bufio.NewReader(line), wanted: make(chan chan float64)}
	scale.last = scale.@{fnCamel}()
	go scale.keep()
	orders := make(chan order, 64)
	go mix(orders, scale)
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go vat(client, orders)
	}
}
