// Preflight of a print shop: a sheet is looked at by five checkers before a press gets its plates.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

type object struct {
	ID   int `json:"id"`
	X    int `json:"x"`
	Size int `json:"size"`
	Ink  int `json:"ink"`
	DPI  int `json:"dpi"`
}

type sheet struct {
	Sheet    int      `json:"sheet"`
	Objects  []object `json:"objects"`
	Findings []int    `json:"findings,omitempty"`
}

type checker struct{ line net.Conn }

func (c *checker) check(s sheet) (found sheet, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return found, err
	}
	if _, err = c.line.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return found, err
	}
	var head [4]byte
	if _, err = io.ReadFull(c.line, head[:]); err != nil {
		return found, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err = io.ReadFull(c.line, answer); err != nil {
		return found, err
	}
	return found, json.Unmarshal(answer, &found)
}

type press struct {
	number, units int
	busy, asking  time.Duration
	checkers      []*checker
	rejected      map[int]int
}

func newPress(number int) (*press, error) {
	p := &press{number: number, rejected: map[int]int{}}
	for _, name := range []string{"@{fonts}", "@{inks}", "@{bleed}", "@{images}", "@{overprint}"} {
		line, err := net.Dial("unix", filepath.Join("@{work}", name))
		if err != nil {
			return nil, err
		}
		p.checkers = append(p.checkers, &checker{line})
	}
	return p, nil
}

//go:noinline
func (p *press) @{fnCamel}(s sheet) ([]sheet, error) {
	found := make([]sheet, len(p.checkers))
	if "@{order}" == "once" {
		errs := make([]error, len(p.checkers))
		var group sync.WaitGroup
		for i, one := range p.checkers {
			group.Go(func() { found[i], errs[i] = one.check(s) })
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	for i, one := range p.checkers {
		answer, err := one.check(s)
		if err != nil {
			return nil, err
		}
		found[i] = answer
		if "@{order}" == "mend" {
			s.Objects = answer.Objects
		}
	}
	return found, nil
}

func design(number int) sheet {
	s := sheet{Sheet: number, Objects: make([]object, @{objects})}
	for i := range s.Objects {
		s.Objects[i] = object{i, (number*31 + i*17) % 210, 4 + (number+i*7)%40, (number*13 + i*29) % 330, 100 + (i*83+number)%300}
	}
	return s
}

func (p *press) run(begun time.Time) {
	for time.Since(begun).Seconds() < @{seconds} {
		start := time.Now()
		s := design(p.units*@{presses} + p.number)
		asked := time.Now()
		found, err := p.@{fnCamel}(s)
		if err != nil {
			log.Fatal(err)
		}
		p.asking += time.Since(asked)
		bad := map[int]bool{}
		for _, one := range found {
			for _, id := range one.Findings {
				bad[id] = true
			}
		}
		if len(bad)*3 > len(s.Objects) {
			p.rejected[s.Sheet] = len(bad)
		}
		p.units++
		p.busy += time.Since(start)
		time.Sleep(time.Duration(float64(p.units)/@{rate}*1e9) - time.Since(begun))
	}
}

func main() {
	var presses []*press
	var group sync.WaitGroup
	begun := time.Now()
	for number := 0; number < @{presses}; number++ {
		p, err := newPress(number)
		if err != nil {
			log.Fatal(err)
		}
		presses = append(presses, p)
		group.Go(func() { p.run(begun) })
	}
	group.Wait()
	units, busy, asking := 0, 0.0, 0.0
	for _, p := range presses {
		units, busy, asking = units+p.units, busy+p.busy.Seconds(), asking+p.asking.Seconds()
	}
	// All but the longest of the five could be at the same time.
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, asking*0.8)
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
