// Tells yachts about an anchorage: its ground, its depth, and how much chain to pay out. "anchorage N" is answered by a line.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
)

type book struct {
	text bytes.Buffer
}

func (b *book) @{fnCamel}() error {
	if @{keep} == 1 && b.text.Len() > 0 {
		return nil
	}
	file, err := os.Open("@{work}/@{book}")
	if err != nil {
		return err
	}
	defer file.Close()
	state, err := file.Stat()
	if err != nil {
		return err
	}
	b.text.Reset()
	b.text.Grow(int(state.Size()) + bytes.MinRead)
	room := b.text.AvailableBuffer()[:state.Size()]
	if _, err = io.ReadFull(file, room); err == nil {
		_, err = b.text.Write(room)
	}
	return err
}

func (b *book) entry(number int) ([]string, error) {
	if err := b.@{fnCamel}(); err != nil {
		return nil, err
	}
	_, after, _ := bytes.Cut(b.text.Bytes(), fmt.Appendf(nil, "#%06d|", number))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return strings.Split(string(line), "|"), nil
}

// chain is how far the boat swings, by the catenary of its chain.
func chain(depth float64) float64 {
	length := depth*3 + 10
	for i := range @{rounds} * 20 {
		length += (math.Sqrt(length*length-depth*depth) - length + depth/9) / float64(i+2)
	}
	return math.Round(length)
}

func serve(yacht net.Conn) {
	defer yacht.Close()
	b := &book{}
	for questions := bufio.NewScanner(yacht); questions.Scan(); {
		_, word, _ := strings.Cut(questions.Text(), " ")
		number, _ := strconv.Atoi(word)
		entry, err := b.entry(number % @{entries})
		if err != nil || len(entry) < 3 {
			log.Println(number, err)
			return
		}
		depth, _ := strconv.ParseFloat(entry[1], 64)
		answer := fmt.Sprintf("%s; %g; %g; %s", strings.TrimSpace(entry[0]), depth, chain(depth+2), entry[2])
		if @{today} == 1 {
			notice, _ := os.ReadFile("@{work}/@{notice}")
			answer += "; " + strings.TrimSpace(string(notice))
		}
		fmt.Fprintln(yacht, answer)
	}
}

func main() {
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	for err == nil {
		var yacht net.Conn
		if yacht, err = door.Accept(); err == nil {
			go serve(yacht)
		}
	}
	log.Fatal(err)
}
