// Publishes the menus of canteens: what a kitchen has decided becomes files that the screens at the entrances show.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type dish struct {
	Number    int      `json:"number"`
	Name      string   `json:"name"`
	Cents     int      `json:"cents"`
	Allergens []string `json:"allergens"`
	Text      string   `json:"text"`
}

type menu struct {
	canteen int
	dishes  []dish
}

type publisher struct {
	shelf string
	spent time.Duration
	last  time.Time
}

var (
	ways      = []string{"baked", "boiled", "fried", "grilled", "steamed", "smoked"}
	things    = []string{"carrots", "dumplings", "lentils", "noodles", "peppers", "potatoes", "salmon", "tofu"}
	allergens = []string{"celery", "egg", "fish", "gluten", "milk", "mustard", "nuts", "soy"}
)

// What the kitchens send: a menu for each canteen, in turn.
func kitchens(menus chan<- menu) {
	due := time.Now()
	for number := 0; ; number++ {
		m := menu{canteen: number % 40}
		for i := 0; i < @{dishes}; i++ {
			name := ways[(number+i)%len(ways)] + " " + things[(number*3+i)%len(things)]
			m.dishes = append(m.dishes, dish{Number: i, Name: name, Cents: 290 + (number*7+i*35)%600})
		}
		due = due.Add(seconds(1.0 / @{rate}))
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		menus <- m
	}
}

// The text on the screen, and what has to be said of allergens.
func describe(d *dish) {
	h := fnv.New64a()
	var text strings.Builder
	for i := 0; i < @{words}; i++ {
		text.WriteString(d.Name)
		text.WriteByte(' ')
	}
	for i := 0; i < @{effort}*100; i++ {
		h.Write([]byte(d.Name))
	}
	sum := h.Sum64()
	for i, a := range allergens {
		if sum>>uint(i)&3 == 0 {
			d.Allergens = append(d.Allergens, a)
		}
	}
	d.Text = text.String()
}

// A screen sees the old file or the new one, and never half of it.
func (p *publisher) @{fnCamel}(name string, content []byte) error {
	start := time.Now()
	defer func() { p.spent += time.Since(start) }()
	path := filepath.Join(p.shelf, name)
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err != nil {
		return err
	}
	if err = file.Sync(); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (p *publisher) publish(m menu) error {
	var all []dish
	for i := range m.dishes {
		d := &m.dishes[i]
		describe(d)
		if "@{by}" != "dish" {
			all = append(all, *d)
			continue
		}
		content, err := json.Marshal(d)
		if err != nil {
			return err
		}
		if err = p.@{fnCamel}(fmt.Sprintf("canteen-%d-%d@{ending}", m.canteen, d.Number), content); err != nil {
			return err
		}
	}
	if "@{by}" == "dish" {
		return nil
	}
	content, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if "@{by}" == "menu" {
		return p.@{fnCamel}(fmt.Sprintf("canteen-%d.menu", m.canteen), content)
	}
	if time.Since(p.last).Seconds() > @{period} {
		p.last = time.Now()
		return p.@{fnCamel}("published", []byte(fmt.Sprint(m.canteen)))
	}
	return os.WriteFile(filepath.Join(p.shelf, fmt.Sprintf("canteen-%d.menu", m.canteen)), content, 0o644)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func main() {
	menus := make(chan menu)
	go kitchens(menus)
	p := &publisher{shelf: "@{work}/@{shelf}"}
	units, busy := 0, time.Duration(0)
	for end := time.Now().Add(seconds(@{seconds})); time.Now().Before(end); {
		m := <-menus
		start := time.Now()
		if err := p.publish(m); err != nil {
			fmt.Fprintln(os.Stderr, "canteen", m.canteen, err)
			os.Exit(1)
		}
		busy += time.Since(start)
		units++
		if units%50 == 0 {
			fmt.Println("published", units, "menus")
		}
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), p.spent.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
