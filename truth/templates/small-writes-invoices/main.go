// Prices the positions of an invoice for a customer, and sends them in one line.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
)

type article struct {
	name  string
	cents int
	tax   int
}

type desk struct {
	articles []article
	rebates  []int
}

func newDesk() *desk {
	chance := rand.New(rand.NewSource(17))
	d := &desk{}
	for i := 0; i < 400; i++ {
		tax := 19
		if chance.Intn(3) == 0 {
			tax = 7
		}
		d.articles = append(d.articles, article{fmt.Sprintf("article-%d", chance.Intn(10000)), 100 + chance.Intn(90000), tax})
	}
	for i := 0; i < @{customers}; i++ {
		d.rebates = append(d.rebates, i*7%15)
	}
	return d
}

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

//go:noinline
func @{fnCamel}(out io.Writer, format string, values ...any) {
	fmt.Fprintf(out, format, values...)
}

func (d *desk) invoice(out io.Writer, number int) {
	net, tax, customer := 0, 0, number%len(d.rebates)
	@{fnCamel}(out, "invoice=%d customer=%d", number, customer)
	for i := 0; i < @{positions}; i++ {
		article := d.articles[(number*31+i*17)%len(d.articles)]
		pieces := 1 + (number+i)%9
		price := article.cents * pieces * (100 - d.rebates[customer]) / 100
		net += price
		tax += price * article.tax / 100
		@{fnCamel}(out, "; %s", article.name)
		@{fnCamel}(out, " %d x", pieces)
		@{fnCamel}(out, " %s", money(price))
	}
	@{fnCamel}(out, "; net=%s tax=%s\n", money(net), money(tax))
}

func (d *desk) talk(client net.Conn) {
	defer client.Close()
	var out io.Writer = client
	flush := func() error { return nil }
	if @{gather} > 0 {
		buffered := bufio.NewWriterSize(client, @{gather})
		out, flush = buffered, buffered.Flush
	}
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		number := 0
		if _, err := fmt.Sscanf(lines.Text(), "invoice %d", &number); err != nil {
			@{fnCamel}(out, "error\n")
		} else {
			d.invoice(out, number)
		}
		if err := flush(); err != nil {
			return
		}
	}
}

func main() {
	d := newDesk()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go d.talk(client)
	}
}
