// Watches over the lamps of a coast: which are dim, and whose battery will not last the night.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type reading struct {
	volts, wind float64
	state       string
}

type watch struct {
	client   http.Client
	base     string
	fetching time.Duration
}

//go:noinline
func (w *watch) @{fnCamel}(lamp int) ([]byte, error) {
	start := time.Now()
	defer func() { w.fetching += time.Since(start) }()
	address := fmt.Sprintf("%s/@{what}/lamp-%d", w.base, lamp)
	if @{last} > 0 {
		address += "?last=" + strconv.Itoa(@{last})
	}
	answer, err := w.client.Get(address)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	told := make([]byte, answer.ContentLength)
	_, err = io.ReadFull(answer.Body, told)
	return told, err
}

func tail(told []byte) (readings []reading) {
	if len(told) > 8192 {
		told = told[len(told)-8192:]
	}
	lines := strings.Split(strings.TrimSpace(string(told)), "\n")
	if len(lines) > @{some} {
		lines = lines[len(lines)-@{some}:]
	}
	for _, line := range lines {
		words := strings.Split(line, ";")
		if len(words) < 5 {
			continue
		}
		volts, _ := strconv.ParseFloat(words[1], 64)
		wind, _ := strconv.ParseFloat(words[2], 64)
		readings = append(readings, reading{volts, wind, words[4]})
	}
	return readings
}

func judge(lamp int, readings []reading) (bool, [32]byte) {
	seal := sha256.Sum256([]byte(fmt.Sprint("lamp ", lamp)))
	for i := 0; i < @{rounds}; i++ {
		seal = sha256.Sum256(seal[:])
	}
	low := 0
	for _, one := range readings {
		if one.volts < 12.1 || one.state == "dim" {
			low++
		}
	}
	return low*2 > len(readings), seal
}

func archive(lamp int, told []byte) error {
	file, err := os.Create(fmt.Sprintf("@{work}/lamp-%d.csv", lamp))
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<18)
	out.Write(told)
	out.Flush()
	return file.Close()
}

func main() {
	w := watch{base: "http://127.0.0.1:@{port}"}
	alarms := map[int][32]byte{}
	units, busy := 0, time.Duration(0)
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		lamp := units % @{lamps}
		told, err := w.@{fnCamel}(lamp)
		if err != nil {
			log.Fatal(err)
		}
		if @{keep} == 1 {
			if err := archive(lamp, told); err != nil {
				log.Fatal(err)
			}
		}
		if low, seal := judge(lamp, tail(told)); low {
			alarms[lamp] = seal
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * float64(time.Second)))))
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": w.fetching.Seconds(), "alarms": len(alarms)})
	os.WriteFile("@{report}", text, 0o644)
}
