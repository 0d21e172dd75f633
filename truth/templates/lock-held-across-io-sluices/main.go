// The centre of a canal: polls the controllers of the sluices for the level of the water, and says the levels to the panels of the keepers.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const sluices = @{sluices}

type canal struct {
	@{lock}     sync.RWMutex
	levels      [sluices][]int
	radio       net.Conn
	transaction uint16
}

func (c *canal) ask(unit int) (int, error) {
	c.transaction++
	question := binary.BigEndian.AppendUint16(nil, c.transaction)
	question = append(question, 0, 0, 0, 6, byte(unit), 0, 40)
	if _, err := c.radio.Write(question); err != nil {
		return 0, err
	}
	c.radio.SetReadDeadline(time.Now().Add(2 * time.Second))
	answer := make([]byte, 64)
	for {
		n, err := c.radio.Read(answer)
		if err != nil {
			return 0, err
		}
		if n == 11 && binary.BigEndian.Uint16(answer) == c.transaction && int(answer[6]) == unit {
			return int(binary.BigEndian.Uint16(answer[9:])), nil
		}
	}
}

func (c *canal) enter(unit, level int) {
	c.levels[unit] = append(c.levels[unit][1:], level)
}

//go:noinline
func (c *canal) @{fnCamel}() {
	if @{held} == 1 {
		c.@{lock}.Lock()
		defer c.@{lock}.Unlock()
		for unit := range c.levels {
			if level, err := c.ask(unit); err == nil {
				c.enter(unit, level)
			}
		}
		return
	}
	found := map[int]int{}
	for unit := 0; unit < sluices; unit++ {
		if level, err := c.ask(unit); err == nil {
			found[unit] = level
		}
	}
	c.@{lock}.Lock()
	defer c.@{lock}.Unlock()
	for unit, level := range found {
		c.enter(unit, level)
	}
}

//go:noinline
func (c *canal) @{look}(unit int) string {
	c.@{lock}.RLock()
	defer c.@{lock}.RUnlock()
	known := c.levels[unit]
	return fmt.Sprintf("%d now %d least %d most %d\n", unit, known[len(known)-1], slices.Min(known), slices.Max(known))
}

func (c *canal) serve(panel net.Conn) {
	defer panel.Close()
	lines := bufio.NewScanner(panel)
	for lines.Scan() {
		_, number, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(number)
		if _, err := panel.Write([]byte(c.@{look}(n % sluices))); err != nil {
			return
		}
	}
}

func main() {
	radio, err := net.Dial("udp", "127.0.0.1:@{plc}")
	if err != nil {
		log.Fatal(err)
	}
	c := &canal{radio: radio}
	for unit := range c.levels {
		c.levels[unit] = make([]int, @{history})
	}
	go func() {
		pause := float64(@{every})
		for {
			c.@{fnCamel}()
			time.Sleep(time.Duration(pause * float64(time.Millisecond)))
		}
	}()
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		panel, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go c.serve(panel)
	}
}
