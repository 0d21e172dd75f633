// Bills the readings of water meters, by the zone in which each is.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"math/rand"
	"os"
	"sort"
	"time"
)

const (
	meters = @{meters}
	entry  = 8
)

type table struct {
	file *os.File
	held []byte
	one  [entry]byte
}

func open(name string) *table {
	file, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	t := &table{file: file}
	if @{held} == 1 {
		t.held = make([]byte, meters*entry)
		if _, err := file.ReadAt(t.held, 0); err != nil {
			log.Fatal(err)
		}
	}
	return t
}

func (t *table) at(number int) (serial, zone uint32) {
	found := t.one[:]
	if t.held != nil {
		found = t.held[number*entry : (number+1)*entry]
	} else if _, err := t.file.ReadAt(found, int64(number)*entry); err != nil {
		log.Fatal(err)
	}
	return binary.LittleEndian.Uint32(found), binary.LittleEndian.Uint32(found[4:])
}

//go:noinline
func (t *table) @{fn}(serial uint32) (int, bool) {
	low := sort.Search(meters, func(number int) bool {
		here, _ := t.at(number)
		return here >= serial
	})
	if low == meters {
		return 0, false
	}
	here, zone := t.at(low)
	return int(zone), here == serial
}

func price(zone, days int, chance *rand.Rand) (sum float64) {
	for range days {
		litres := float64(chance.Intn(900))
		sum += litres * (0.002 + float64(zone)*0.0001)
		if litres > 600 {
			sum += (litres - 600) * 0.001
		}
	}
	return sum
}

func main() {
	t := open("@{work}/@{zones}")
	chance := rand.New(rand.NewSource(@{tariffs}))
	began := time.Now()
	var busy, culprit time.Duration
	units, unknown, billed := 0, 0, 0.0
	zones := make([]int, @{each})
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for i := range zones {
			zone, ok := t.@{fn}(uint32(chance.Intn(meters)*17 + 5))
			if !ok {
				zone = -1
				unknown++
			}
			zones[i] = zone
		}
		culprit += time.Since(start)
		for _, zone := range zones {
			if zone >= 0 {
				billed += price(zone, @{asked}*@{days}/len(zones), chance)
			}
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	log.Printf("billed %.2f, unknown %d", billed, unknown)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
