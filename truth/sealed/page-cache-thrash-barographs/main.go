// Serves curves that were read off old strips of paper. "asked N": what the strips of some stations say of a day;
// "copied N": the next strips. An answer is a line.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"runtime/debug"
)

const strip = @{kb} << 10

type curves struct {
	file  *os.File
	count int64
}

type desk struct {
	*curves
	paper [strip]byte
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (c *curves) warm() {
	part := make([]byte, 1<<20)
	for n, _ := c.file.Read(part); n > 0; n, _ = c.file.Read(part) {
	}
}

//go:noinline
func (d *desk) @{fnCamel}(number int64) {
	_, err := d.file.ReadAt(d.paper[:], number%d.count*strip)
	must(err)
}

func (d *desk) scale(number int64) (low, high uint16) {
	d.@{fnCamel}(number)
	low = 65535
	for at := 0; at < strip; at += 16 {
		value := binary.LittleEndian.Uint16(d.paper[at:])
		low, high = min(low, value), max(high, value)
	}
	return low, high
}

func (d *desk) asked(chance *rand.Rand) (low, high float64) {
	for i := 0; i < @{strips}; i++ {
		l, h := d.scale(chance.Int63())
		low += float64(l) / @{strips}
		high += float64(h) / @{strips}
	}
	return low, high
}

func (d *desk) copied(number int64) (low, high float64) {
	const each = (@{strips} + @{part} - 1) / @{part}
	for i := int64(0); i < each; i++ {
		l, h := d.scale(number*each + i)
		low, high = float64(l), float64(h)
	}
	return low, high
}

func (c *curves) serve(caller net.Conn) {
	defer caller.Close()
	d := &desk{curves: c}
	lines := bufio.NewScanner(caller)
	for lines.Scan() {
		var word string
		var number int64
		fmt.Sscan(lines.Text(), &word, &number)
		var low, high float64
		if word == "asked" {
			low, high = d.asked(rand.New(rand.NewSource(number*31 + int64(os.Getpid()))))
		} else {
			low, high = d.copied(number)
		}
		fmt.Fprintf(caller, "%d %.1f %.1f\n", number, low, high)
	}
}

func main() {
	debug.SetMemoryLimit(24 << 20)
	file, err := os.Open("@{work}/@{curves}")
	must(err)
	about, err := file.Stat()
	must(err)
	c := &curves{file, about.Size() / strip}
	must(os.WriteFile("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", []byte(fmt.Sprint(os.Getpid())), 0o644))
	if "@{way}" == "asked" {
		c.warm()
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	must(err)
	for {
		caller, err := door.Accept()
		must(err)
		go c.serve(caller)
	}
}
