// The stock of a depot. Pickers take articles; a label goes to each parcel that is full, by way of the printer's driver, a process of its own.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

type depot struct {
	@{lock}  sync.Mutex
	pieces  map[string]int
	printed int
	to      io.Writer
	from    *bufio.Reader
}

func milliseconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Millisecond))
}

func (d *depot) @{look}(article string) int {
	d.@{lock}.Lock()
	defer d.@{lock}.Unlock()
	d.pieces[article]--
	left := d.pieces[article]
	if left < 10 {
		d.pieces[article] = 1000
	}
	return left
}

func (d *depot) ask(text string) {
	if _, err := io.WriteString(d.to, text); err != nil {
		log.Fatal(err)
	}
	if _, err := d.from.ReadString('\n'); err != nil {
		log.Fatal(err)
	}
}

//go:noinline
func (d *depot) @{fnCamel}(parcel int) {
	d.@{lock}.Lock()
	text := fmt.Sprintf("parcel %d of %d\n", parcel, len(d.pieces))
	if @{inside} == 1 {
		defer d.@{lock}.Unlock()
		d.ask(text)
		d.printed++
		return
	}
	d.@{lock}.Unlock()
	d.ask(text)
	d.@{lock}.Lock()
	d.printed++
	d.@{lock}.Unlock()
}

// The printer's driver: a line in, and a line out when the label is there.
func driver() {
	labels := bufio.NewScanner(os.Stdin)
	for labels.Scan() {
		time.Sleep(milliseconds(@{delay}))
		fmt.Println("printed")
	}
}

func (d *depot) serve(client net.Conn) {
	defer client.Close()
	lines := bufio.NewScanner(client)
	for lines.Scan() {
		_, number, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(number)
		left := d.@{look}("A" + strconv.Itoa(n%@{articles}))
		answer := ""
		for start := time.Now(); time.Since(start) < milliseconds(@{effort}); {
			answer = fmt.Sprintf("left %d\n", left)
		}
		if _, err := io.WriteString(client, answer); err != nil {
			return
		}
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "driver" {
		driver()
		return
	}
	child := exec.Command("/proc/self/exe", "driver")
	to, _ := child.StdinPipe()
	from, _ := child.StdoutPipe()
	if err := child.Start(); err != nil {
		log.Fatal(err)
	}
	d := &depot{pieces: map[string]int{}, to: to, from: bufio.NewReader(from)}
	for i := 0; i < @{articles}; i++ {
		d.pieces["A"+strconv.Itoa(i)] = 1000
	}
	go func() {
		for parcel := 0; ; parcel++ {
			d.@{fnCamel}(parcel)
			time.Sleep(milliseconds(@{every}))
		}
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go d.serve(client)
	}
}
