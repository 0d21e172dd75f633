// Price lists for dealers: what is agreed for years, and the offers of the day before it.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

type article struct {
	code   string
	name   string
	cents  int
	margin float64
}

type dealer struct {
	number   int
	articles []article
	agreed   []byte
	packed   []byte
}

type catalogue struct {
	dealers []*dealer
	packers sync.Pool
}

var names = []string{"hinge, brass", "bolt M8", "washer, steel", "hook, double", "bracket 90", "rail 2 m", "clamp, small", "handle, oak"}

func (c *catalogue) read() {
	c.packers.New = func() any {
		packer, _ := gzip.NewWriterLevel(io.Discard, gzip.BestCompression)
		return packer
	}
	for number := 0; number < @{accounts}; number++ {
		chance := rand.New(rand.NewSource(int64(number)))
		one := &dealer{number: number}
		var text strings.Builder
		for i := 0; i < @{rows}; i++ {
			entry := article{fmt.Sprintf("%c%05d", 'A'+i%20, chance.Intn(99999)), names[chance.Intn(len(names))], 50 + chance.Intn(90000), 0.02 + chance.Float64()/4}
			one.articles = append(one.articles, entry)
			fmt.Fprintf(&text, "%s;%-24s;%10.2f EUR;per %d;rebate %.1f %%\n", entry.code, entry.name, float64(entry.cents)/100, 1+i%50, entry.margin*100)
		}
		one.agreed = []byte(text.String())
		if @{kept} == 1 {
			one.packed = c.@{fnCamel}(one.agreed)
		}
		c.dealers = append(c.dealers, one)
	}
}

//go:noinline
func (c *catalogue) @{fnCamel}(parts ...[]byte) []byte {
	packer := c.packers.Get().(*gzip.Writer)
	defer c.packers.Put(packer)
	var out bytes.Buffer
	packer.Reset(&out)
	for _, part := range parts {
		packer.Write(part)
	}
	packer.Close()
	return out.Bytes()
}

// What is cheap today, by what was agreed and by the day's index.
func (d *dealer) offers(day int) []byte {
	best := make([]int, 0, @{fresh})
	low := math.Inf(1)
	for round := 0; round < @{rounds}*8; round++ {
		for i, entry := range d.articles {
			price := float64(entry.cents) * (1 - entry.margin*math.Abs(math.Sin(float64(day+i*round))))
			if price < low*1.4 && len(best) < cap(best) {
				low = math.Min(low, price)
				best = append(best, i)
			}
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "Dealer %d, offers of day %d\n", d.number, day)
	for _, i := range best {
		fmt.Fprintf(&text, "%s;%s;%.2f\n", d.articles[i].code, d.articles[i].name, float64(d.articles[i].cents)/120)
	}
	return text.Bytes()
}

func (c *catalogue) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	parts := strings.Split(request.URL.Path, "/")
	number, err := strconv.Atoi(parts[len(parts)-1])
	if err != nil {
		http.NotFound(answer, request)
		return
	}
	of := c.dealers[number%len(c.dealers)]
	offers := of.offers(number % 300)
	answer.Header().Set("Content-Type", "text/plain")
	answer.Header().Set("Content-Encoding", "gzip")
	if of.packed != nil {
		// Packed parts one after the other are a packed whole.
		answer.Write(append(c.@{fnCamel}(offers), of.packed...))
		return
	}
	answer.Write(c.@{fnCamel}(offers, of.agreed))
}

func (c *catalogue) archive(every float64) {
	for n := 0; ; n++ {
		time.Sleep(time.Duration(every * 1e9))
		of := c.dealers[n%len(c.dealers)]
		log.Printf("archive: %d bytes", len(c.@{fnCamel}(of.offers(n), of.agreed)))
	}
}

func main() {
	all := &catalogue{}
	all.read()
	if every := float64(@{archive}); every > 0 {
		go all.archive(every)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:@{port}", all))
}
