// The office of a sawmill: what the logs of a deck are worth, by species and grade.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"
)

type sort struct{ species, grade byte }

func (s sort) cents() float64 {
	return 320/float64(1+s.species) - 35*float64(s.grade) + 130
}

type record struct {
	sort
	metres, thick float64
}

func (r record) cubic() float64 {
	return r.metres * r.thick * r.thick * math.Pi / 4
}

type deck struct {
	file *os.File
	in   *bufio.Reader
	raw  [32]byte
}

func open(path string) (*deck, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &deck{file: file, in: bufio.NewReaderSize(file, 1<<17)}, nil
}

func (d *deck) next() (record, error) {
	if _, err := io.ReadFull(d.in, d.raw[:]); err != nil {
		return record{}, err
	}
	number := func(at int) float64 { return float64(binary.LittleEndian.Uint16(d.raw[at:])) }
	return record{sort{d.raw[4], d.raw[5]}, number(6) / 100, number(8) / 1000}, nil
}

type office struct {
	sorts []sort
	again time.Duration
}

//go:noinline
func (o *office) @{fnCamel}(path string, wanted sort) (volume float64, err error) {
	d, err := open(path)
	if err != nil {
		return 0, err
	}
	defer d.file.Close()
	for {
		one, err := d.next()
		if errors.Is(err, io.EOF) {
			return volume, nil
		}
		if err != nil {
			return 0, err
		}
		if one.sort == wanted {
			volume += one.cubic()
		}
	}
}

func (o *office) allSorts(path string) (map[sort]float64, error) {
	d, err := open(path)
	if err != nil {
		return nil, err
	}
	defer d.file.Close()
	var volumes [16][8]float64
	for {
		one, err := d.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		volumes[one.species][one.grade] += one.cubic()
	}
	found := map[sort]float64{}
	for _, s := range o.sorts {
		found[s] = volumes[s.species][s.grade]
	}
	return found, nil
}

func (o *office) volumes(path string) (map[sort]float64, error) {
	if @{at_once} == 1 {
		return o.allSorts(path)
	}
	found := map[sort]float64{}
	var after time.Time
	for _, s := range o.sorts {
		volume, err := o.@{fnCamel}(path, s)
		if err != nil {
			return nil, err
		}
		found[s] = volume
		if after.IsZero() {
			after = time.Now()
		}
	}
	o.again += time.Since(after)
	return found, nil
}

func main() {
	o := &office{}
	for species := range @{species} {
		for grade := range @{grades} {
			o.sorts = append(o.sorts, sort{byte(species), byte(grade)})
		}
	}
	list, err := os.Create("@{work}/values.lst")
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(list)
	units, busy, began := 0, time.Duration(0), time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		number := units%20 + 1
		volumes, err := o.volumes(filepath.Join("@{work}/@{decks}", fmt.Sprintf("@{prefix}%d.dat", number)))
		if err != nil {
			log.Fatal(err)
		}
		worth := 0.0
		for s, volume := range volumes {
			worth += volume * s.cents()
		}
		fmt.Fprintf(out, "deck %d: %d sorts, %.2f\n", number, len(volumes), worth)
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{per_s} * 1e9))))
	}
	out.Flush()
	text, _ := json.Marshal(map[string]float64{"units": float64(units), "seconds": busy.Seconds(), "culprit": o.again.Seconds()})
	if err := os.WriteFile("@{report}", text, 0o644); err != nil {
		log.Fatal(err)
	}
}
