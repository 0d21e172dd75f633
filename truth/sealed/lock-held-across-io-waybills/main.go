// Packs parcels: each gets the number of a waybill, with its check digits, and a barcode. The numbers come from the carrier in blocks.
package main

import (
	"bufio"
	"crypto/sha1"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

type carrier struct {
	conn    net.Conn
	answers *bufio.Reader
}

func (c *carrier) block(count int) (first int) {
	c.conn.SetDeadline(time.Now().Add(8 * time.Second))
	fmt.Fprintf(c.conn, "BLOCK %d\n", count)
	line, err := c.answers.ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	fmt.Sscanf(line, "FROM %d", &first)
	return first
}

type roll struct {
	@{lock}   sync.Mutex
	carrier   *carrier
	next, end int
	// The first numbers of blocks that were fetched before they are needed; nil where none are.
	blocks chan int
}

func newRoll() *roll {
	conn, err := net.Dial("tcp", "127.0.0.1:@{carrier}")
	if err != nil {
		log.Fatal(err)
	}
	r := &roll{carrier: &carrier{conn, bufio.NewReader(conn)}}
	if @{ahead} == 1 {
		r.blocks = make(chan int, 2)
		go func() {
			for {
				r.blocks <- r.carrier.block(@{block})
			}
		}()
		for len(r.blocks) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return r
}

//go:noinline
func (r *roll) @{fnCamel}() int {
	r.@{lock}.Lock()
	defer r.@{lock}.Unlock()
	if r.next == r.end {
		if r.blocks != nil {
			r.next = <-r.blocks
		} else {
			r.next = r.carrier.block(@{block})
		}
		r.end = r.next + @{block}
	}
	r.next++
	return r.next - 1
}

// The bars of a waybill's label, as letters.
func label(number int) string {
	var bars strings.Builder
	for round := 0; round < @{rounds}; round++ {
		sum := sha1.Sum([]byte(fmt.Sprint(number, round)))
		for _, part := range sum[:4] {
			for bar := 0; bar < 8; bar += 2 {
				bars.WriteByte("|:.!"[part>>bar&3])
			}
		}
	}
	return bars.String()
}

type account struct {
	units         int
	busy, drawing time.Duration
}

func pack(r *roll, packer int, begun time.Time, mine *account) {
	file, err := os.Create(fmt.Sprintf("@{work}/labels-%d.txt", packer))
	if err != nil {
		log.Fatal(err)
	}
	labels := bufio.NewWriter(file)
	for time.Since(begun).Seconds() < @{seconds} {
		start := time.Now()
		number := r.@{fnCamel}()
		mine.drawing += time.Since(start)
		fmt.Fprintf(labels, "%d%02d %s\n", number, 98-number%97, label(number))
		mine.units++
		mine.busy += time.Since(start)
		due := (float64(mine.units) + float64(packer)/8) / @{pace}
		time.Sleep(time.Until(begun.Add(time.Duration(due * float64(time.Second)))))
	}
	labels.Flush()
	file.Close()
}

func main() {
	r, accounts := newRoll(), make([]account, @{packers})
	var packers sync.WaitGroup
	begun := time.Now()
	for packer := range accounts {
		packers.Add(1)
		go func() {
			defer packers.Done()
			pack(r, packer, begun, &accounts[packer])
		}()
	}
	packers.Wait()
	var sum account
	for _, one := range accounts {
		sum.units += one.units
		sum.busy += one.busy
		sum.drawing += one.drawing
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, sum.units, sum.busy.Seconds(), sum.drawing.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
