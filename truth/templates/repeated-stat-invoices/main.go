// Typesets invoices for the tills of a builder's merchant.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"sync"
	"time"
)

const column = 24000

var goods = []string{"oak", "board", "beech", "rail", "brass", "hinge", "steel", "screw", "glass", "pane", "wax", "oil", "fine", "sandpaper", "long", "short", "set"}

type metrics struct {
	letters [128]int
	words   map[string]int
	seen    os.FileInfo
	at      time.Time
}

// fontCache keeps the metrics of the fonts by their paths.
type fontCache struct {
	mutex sync.Mutex
	fonts map[string]*metrics
}

func readMetrics(path string, info os.FileInfo) (*metrics, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m := &metrics{words: map[string]int{}, seen: info, at: info.ModTime()}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var code, width int
		if _, err := fmt.Sscan(lines.Text(), &code, &width); err == nil && code < len(m.letters) {
			m.letters[code] = width
		}
	}
	return m, lines.Err()
}

// @{fnCamel} is the font as it is now.
func (c *fontCache) @{fnCamel}(path string) (*metrics, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	known := c.fonts[path]
	if known != nil && os.SameFile(known.seen, info) && known.at.Equal(info.ModTime()) {
		return known, nil
	}
	known, err = readMetrics(path, info)
	if err == nil {
		c.fonts[path] = known
	}
	return known, err
}

func (c *fontCache) width(path, word string) int {
	m := c.fonts[path]
	if "@{check}" == "word" || m == nil {
		var err error
		if m, err = c.@{fnCamel}(path); err != nil {
			return 500 * len(word)
		}
	}
	width, there := m.words[word]
	if !there {
		for i := 0; i < len(word); i++ {
			width += m.letters[word[i]&127]
		}
		m.words[word] = width
	}
	return width
}

type printer struct {
	cache fontCache
	path  string
}

func (p *printer) typeset(number int) (pages, ragged int) {
	p.cache.mutex.Lock()
	defer p.cache.mutex.Unlock()
	if "@{check}" == "invoice" {
		p.cache.@{fnCamel}(p.path)
	}
	height := 0
	for line := 0; line < @{lines}; line++ {
		lines, room := 1, column
		for i := 0; i < 12; i++ {
			width := p.cache.width(p.path, goods[(number*7+line*13+i*i)%len(goods)])
			if width > room {
				lines, room = lines+1, column
			}
			room -= width + 250
		}
		height += lines*12 + 3
		ragged += room
	}
	return height/700 + 1, ragged
}

func (p *printer) talk(till net.Conn) {
	defer till.Close()
	lines := bufio.NewScanner(till)
	for lines.Scan() {
		number := 0
		fmt.Sscanf(lines.Text(), "invoice %d", &number)
		pages, ragged := p.typeset(number)
		fmt.Fprintf(till, "invoice %d: %d pages, %d ragged\n", number, pages, ragged)
	}
}

func (p *printer) watch() {
	for range time.Tick(time.Second) {
		p.cache.mutex.Lock()
		p.cache.@{fnCamel}(p.path)
		p.cache.mutex.Unlock()
	}
}

func main() {
	p := &printer{fontCache{fonts: map[string]*metrics{}}, "@{work}/@{fonts}/@{font}"}
	if "@{check}" == "timer" {
		go p.watch()
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		till, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go p.talk(till)
	}
}
