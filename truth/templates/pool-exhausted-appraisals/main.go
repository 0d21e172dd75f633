// The desk of an auction house: an estimate for each lot that an expert sends in, unless it is in the register of lost art.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"strconv"
	"strings"
)

type lot struct {
	number int
	mark   int
	answer chan string
}

type desk struct {
	lots chan lot
}

// The appraiser's own line to the register.
type appraiser struct {
	line    net.Conn
	answers *bufio.Reader
}

func newAppraiser() (*appraiser, error) {
	line, err := net.Dial("tcp", "127.0.0.1:@{register}")
	if err != nil {
		return nil, err
	}
	return &appraiser{line, bufio.NewReader(line)}, nil
}

// Brush, canvas, frame: what a photograph says of the work.
func mark(number int) int {
	sum := 0.0
	for feature := 0; feature < @{features}*300; feature++ {
		sum += math.Sin(float64(number*feature)) * math.Cos(float64(feature))
	}
	return int(math.Abs(sum)*1000) % 100000
}

//go:noinline
func (a *appraiser) @{fnCamel}(l lot) (bool, int, error) {
	if _, err := fmt.Fprintf(a.line, "SEEN %d %d\n", l.number, l.mark); err != nil {
		return false, 0, err
	}
	text, err := a.answers.ReadString('\n')
	if err != nil {
		return false, 0, err
	}
	words := strings.Fields(text)
	if len(words) != 2 {
		return false, 0, fmt.Errorf("the register says %q", text)
	}
	score, err := strconv.Atoi(words[1])
	return words[0] == "LISTED", score, err
}

func (a *appraiser) work(lots <-chan lot) {
	for l := range lots {
		listed, score, err := a.@{fnCamel}(l)
		switch {
		case err != nil:
			log.Printf("lot %d: %v", l.number, err)
			l.answer <- fmt.Sprintf("lot %d: later\n", l.number)
		case listed:
			l.answer <- fmt.Sprintf("lot %d: withdrawn\n", l.number)
		default:
			low := 80 + (l.mark+score)%4000
			l.answer <- fmt.Sprintf("lot %d: %d to %d\n", l.number, low, low*3/2)
		}
	}
}

func (d *desk) serve(expert net.Conn) {
	defer expert.Close()
	lines := bufio.NewScanner(expert)
	answer := make(chan string, 1)
	for lines.Scan() {
		number, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "lot "))
		if err != nil {
			fmt.Fprintln(expert, "no such lot")
			continue
		}
		d.lots <- lot{number, mark(number), answer}
		if _, err := expert.Write([]byte(<-answer)); err != nil {
			return
		}
	}
}

func main() {
	d := &desk{lots: make(chan lot, @{room})}
	for i := 0; i < @{workers}; i++ {
		a, err := newAppraiser()
		if err != nil {
			log.Fatal(err)
		}
		go a.work(d.lots)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		expert, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go d.serve(expert)
	}
}
