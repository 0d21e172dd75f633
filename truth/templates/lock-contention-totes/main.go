// The tote of a racecourse. A window sends `bet N`, and gets the ticket and the odds of the horse. The stewards see what the house would owe, time after time.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	size   = @{kilo} * 4000
	ticket = 32
)

type race struct {
	horses int
	cut    float64
}

type runner struct{ race, horse int }

func readCard(path string) (map[int]race, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	card := map[int]race{}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var number int
		var one race
		if _, err := fmt.Sscanf(lines.Text(), "race %d horses %d cut %f", &number, &one.horses, &one.cut); err != nil {
			return nil, err
		}
		card[number] = one
	}
	return card, nil
}

// book has all tickets, the newest over the oldest, and what is in the pools.
type book struct {
	card    map[int]race
	lock    sync.Mutex
	tickets []byte
	pools   map[runner]float64
	totals  map[int]float64
	count   int
}

func newBook(card map[int]race) *book {
	b := &book{card: card, tickets: make([]byte, size*ticket), pools: map[runner]float64{}, totals: map[int]float64{}}
	for number, one := range card {
		for horse := 0; horse < one.horses; horse++ {
			b.pools[runner{number, horse}] = 100
			b.totals[number] += 100
		}
	}
	for number := 0; number < size; number++ {
		b.enter(number)
	}
	return b
}

func (b *book) enter(number int) string {
	where := number%len(b.card) + 1
	one := b.card[where]
	chosen, stake := runner{where, number * 31 % one.horses}, 2+number*17%49
	var text [ticket]byte
	proof := sha256.Sum256(strconv.AppendInt(nil, int64(number*1000+where*40+chosen.horse), 10))
	binary.LittleEndian.PutUint32(text[0:], uint32(number))
	binary.LittleEndian.PutUint16(text[4:], uint16(where))
	binary.LittleEndian.PutUint16(text[6:], uint16(chosen.horse))
	binary.LittleEndian.PutUint32(text[8:], uint32(stake))
	binary.LittleEndian.PutUint64(text[12:], uint64(time.Now().UnixNano()))
	copy(text[20:], proof[:12])

	b.lock.Lock()
	copy(b.tickets[b.count%size*ticket:], text[:])
	b.count++
	b.pools[chosen] += float64(stake)
	b.totals[where] += float64(stake)
	odds := b.totals[where] * (1 - one.cut) / b.pools[chosen]
	b.lock.Unlock()
	return fmt.Sprintf("ticket %x race %d horse %d odds %.2f\n", proof[:12], where, chosen.horse, odds)
}

// placed is the chance of a horse to come in first, second or third, by what is in the pools (Harville).
func placed(pools []float64, total float64, horse int) float64 {
	own := pools[horse] / total
	chance := own
	for first, pool := range pools {
		if first == horse {
			continue
		}
		won := pool / total
		chance += won * own / (1 - won)
		for second, other := range pools {
			if second != horse && second != first {
				next := other / total
				chance += won * next / (1 - won) * own / (1 - won - next)
			}
		}
	}
	return chance
}

func (b *book) reckon(tickets []byte, pools map[runner]float64) map[int]float64 {
	races, totals, owed := map[int][]float64{}, map[int]float64{}, map[int]float64{}
	for number, one := range b.card {
		for horse := 0; horse < one.horses; horse++ {
			races[number] = append(races[number], pools[runner{number, horse}])
			totals[number] += pools[runner{number, horse}]
		}
	}
	for at := 0; at < len(tickets); at += ticket {
		where, horse := int(binary.LittleEndian.Uint16(tickets[at+4:])), int(binary.LittleEndian.Uint16(tickets[at+6:]))
		stake := float64(binary.LittleEndian.Uint32(tickets[at+8:]))
		owed[where] += stake * totals[where] / races[where][horse] / 3 * placed(races[where], totals[where], horse)
	}
	return owed
}

func (b *book) @{fnCamel}() map[int]float64 {
	b.lock.Lock()
	pools := maps.Clone(b.pools)
	if "@{inside}" == "yes" {
		defer b.lock.Unlock()
		return b.reckon(b.tickets, pools)
	}
	tickets := bytes.Clone(b.tickets)
	b.lock.Unlock()
	return b.reckon(tickets, pools)
}

func stewards(b *book) {
	most := map[int]float64{}
	for {
		for where, owed := range b.@{fnCamel}() {
			most[where] = max(most[where], owed)
		}
		time.Sleep(time.Duration(@{gap} * float64(time.Millisecond)))
	}
}

func window(b *book, line net.Conn) {
	defer line.Close()
	for asked := bufio.NewScanner(line); asked.Scan(); {
		number, err := strconv.Atoi(strings.TrimPrefix(asked.Text(), "bet "))
		if err != nil {
			return
		}
		if _, err := line.Write([]byte(b.enter(number))); err != nil {
			return
		}
	}
}

func main() {
	card, err := readCard("@{work}/card.txt")
	if err != nil {
		log.Fatal(err)
	}
	b := newBook(card)
	go stewards(b)
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		line, err := door.Accept()
		if err != nil {
			continue
		}
		go window(b, line)
	}
}
