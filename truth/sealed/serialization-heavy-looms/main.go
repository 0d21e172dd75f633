// The control room of a weaving mill. The looms report how many picks they have woven; the room keeps the orders, tells how much yarn they took, and says which bobbin is next.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
	"time"
)

const (
	whole = "@{whole}" == "yes"
	rows  = @{rows}
	hooks = @{hooks}
	looms = @{looms}
)

type row struct {
	Row  int   `json:"row"`
	Yarn int   `json:"yarn"`
	Lift []int `json:"lift"`
}

type order struct {
	Order    int             `json:"order"`
	Customer string          `json:"customer"`
	Woven    int             `json:"woven"`
	Used     map[int]float64 `json:"used"`
	Pattern  []row           `json:"pattern,omitempty"`
}

func readYarns(path string) (map[int]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	yarns := map[int]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var number int
		var weight float64
		if _, err := fmt.Sscanf(line, "yarn.%d = %f", &number, &weight); err != nil {
			return nil, err
		}
		yarns[number] = weight
	}
	return yarns, nil
}

// pattern tells which hooks are up, and which yarn goes through, row by row.
func pattern(loom int) (made []row) {
	for r := 0; r < rows; r++ {
		one := row{Row: r, Yarn: (r/3 + loom) % 4}
		for hook := 0; hook < hooks; hook++ {
			one.Lift = append(one.Lift, (r*7+hook*(loom+3))%11)
		}
		made = append(made, one)
	}
	return
}

// shelf has the orders, by loom. What is on it is text, so that the night shift's copy of it can be taken at any time.
type shelf struct {
	texts    map[int][]byte
	patterns map[int][]row
}

//go:noinline
func (s *shelf) @{fnCamel}(loom int) (*order, error) {
	var found order
	if err := json.Unmarshal(s.texts[loom], &found); err != nil {
		return nil, err
	}
	if !whole {
		found.Pattern = s.patterns[loom]
	}
	return &found, nil
}

//go:noinline
func (s *shelf) @{putCamel}(loom int, one *order) error {
	if !whole {
		s.patterns[loom], one.Pattern = one.Pattern, nil
	}
	text, err := json.Marshal(one)
	s.texts[loom] = text
	return err
}

type room struct {
	yarns map[int]float64
	shelf *shelf
	took  time.Duration
}

func newRoom(yarns map[int]float64) (*room, error) {
	r := &room{yarns: yarns, shelf: &shelf{map[int][]byte{}, map[int][]row{}}}
	for loom := 0; loom < looms; loom++ {
		one := &order{4000 + loom, fmt.Sprintf("house %d", loom%7), 0, map[int]float64{}, pattern(loom)}
		if err := r.shelf.@{putCamel}(loom, one); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *room) weave(one *order, picks int) {
	for pick := one.Woven; pick < one.Woven+picks; pick++ {
		row := one.Pattern[pick%len(one.Pattern)]
		up := 0
		for _, lift := range row.Lift {
			up += lift
		}
		one.Used[row.Yarn] = math.Round((one.Used[row.Yarn]+r.yarns[row.Yarn]*(1+float64(up)/4000))*1000) / 1000
	}
	one.Woven += picks
}

func nextBobbin(one *order) (bobbin int) {
	most := 0.0
	for yarn, used := range one.Used {
		if used > most {
			bobbin, most = yarn, used
		}
	}
	return
}

func (r *room) report(line string) (int, error) {
	var loom, picks int
	if _, err := fmt.Sscanf(line, "loom %d picks %d", &loom, &picks); err != nil {
		return 0, err
	}
	start := time.Now()
	one, err := r.shelf.@{fnCamel}(loom)
	if err != nil {
		return 0, err
	}
	r.took += time.Since(start)
	r.weave(one, picks)
	bobbin := nextBobbin(one)
	start = time.Now()
	err = r.shelf.@{putCamel}(loom, one)
	r.took += time.Since(start)
	return bobbin, err
}

func main() {
	yarns, err := readYarns("@{work}/yarns.conf")
	if err != nil {
		log.Fatal(err)
	}
	r, err := newRoom(yarns)
	if err != nil {
		log.Fatal(err)
	}
	units, bobbins := 0, map[int]int{}
	var busy float64
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		bobbin, err := r.report(fmt.Sprintf("loom %d picks %d", units*5%looms, 15000+units%9000))
		if err != nil {
			log.Fatal(err)
		}
		bobbins[bobbin]++
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	log.Printf("%d reports, bobbins: %v", units, bobbins)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": r.took.Seconds()})
	if err := os.WriteFile("@{report}", text, 0o644); err != nil {
		log.Fatal(err)
	}
}
