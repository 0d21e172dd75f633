// Bills of a marina: what each berth took of power and water on a day, in the order of the lessees.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"
	"time"
)

const (
	record = @{size}
	berths = @{berths}
)

type sheet struct {
	byJetty [26]uint64
	dearest int
	most    uint64
}

func (s *sheet) add(berth int, meter []byte) {
	cents := uint64(binary.BigEndian.Uint32(meter)>>12)*31 + uint64(binary.BigEndian.Uint32(meter[4:])>>14)*4
	s.byJetty[berth%len(s.byJetty)] += cents
	if cents > s.most {
		s.most, s.dearest = cents, berth
	}
}

type marina struct {
	meters  *os.File
	lessees []int
	spent   time.Duration
}

//go:noinline
func (m *marina) @{fnCamel}(day int64) (s sheet) {
	start := time.Now()
	meter := make([]byte, record)
	for _, berth := range m.lessees {
		if _, err := m.meters.Seek((day*berths+int64(berth))*record, io.SeekStart); err != nil {
			panic(err)
		}
		if _, err := io.ReadFull(m.meters, meter); err != nil {
			panic(err)
		}
		s.add(berth, meter)
	}
	m.spent += time.Since(start)
	return s
}

func (m *marina) wholeDay(day int64) (s sheet) {
	all := make([]byte, record*berths)
	if _, err := m.meters.ReadAt(all, day*berths*record); err != nil && err != io.EOF {
		panic(err)
	}
	for _, berth := range m.lessees {
		s.add(berth, all[berth*record:(berth+1)*record])
	}
	return s
}

func (m *marina) desk(day int64) (s sheet) {
	meter := make([]byte, record)
	for i := 0; i < @{few}; i++ {
		berth := m.lessees[rand.Intn(berths)]
		if _, err := m.meters.ReadAt(meter, (day*berths+int64(berth))*record); err != nil {
			panic(err)
		}
		s.add(berth, meter)
	}
	return s
}

func main() {
	meters, err := os.Open("@{file}")
	if err != nil {
		panic(err)
	}
	m := &marina{meters: meters, lessees: rand.New(rand.NewSource(@{seed})).Perm(berths)}
	began, busy, units, owed := time.Now(), time.Duration(0), 0, uint64(0)
	for time.Since(began).Seconds() < @{seconds} {
		start, day := time.Now(), int64(units%@{days})
		var s sheet
		switch "@{how}" {
		case "each":
			s = m.@{fnCamel}(day)
		case "day":
			s = m.wholeDay(day)
		default:
			s = m.desk(day)
		}
		owed += s.byJetty[0]
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println("owed at the first jetty:", owed)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), m.spent.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
