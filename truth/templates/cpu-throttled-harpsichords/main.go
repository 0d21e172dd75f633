// Listens to the strings of a harpsichord, and says by how much each is out of tune.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

const rate = 22050

// Nanoseconds from one to the next.
var period = 1e9 / @{per_s}

type verdict struct {
	String int     `json:"string"`
	Cents  float64 `json:"cents"`
	Bright float64 `json:"bright"`
}

func enter(room string) {
	path := "/sys/fs/cgroup/cpu/" + room + "/cgroup.procs"
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		panic(err)
	}
}

// spent is the processor's time so far.
func spent() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func pluck(number int) []float64 {
	sound, pitch := make([]float64, 4096), 55*math.Pow(2, float64(number%61)/12)
	for i := range sound {
		t := float64(i) / rate
		sound[i] = math.Exp(-3*t) * (math.Sin(2*math.Pi*pitch*t) + 0.4*math.Sin(4.02*math.Pi*pitch*t))
	}
	return sound
}

// Goertzel's: how much of a frequency is in the sound.
func strength(sound []float64, frequency float64) float64 {
	turn, one, two := 2*math.Cos(2*math.Pi*frequency/rate), 0.0, 0.0
	for _, sample := range sound {
		one, two = sample+turn*one-two, one
	}
	return one*one + two*two - turn*one*two
}

//go:noinline
func @{fnCamel}(number int, sound []float64, tries int) verdict {
	pitch := 55 * math.Pow(2, float64(number%61)/12)
	best, found := 0.0, verdict{String: number % 61}
	for try := range tries {
		cents := 50 * (2*float64(try)/float64(tries) - 1)
		sum := 0.0
		for partial := 1; partial <= @{partials}; partial++ {
			sum += strength(sound, pitch*float64(partial)*math.Pow(2, cents/1200)) / float64(partial)
		}
		if sum > best {
			best, found.Cents, found.Bright = sum, cents, strength(sound, 6*pitch)/sum
		}
	}
	return found
}

func main() {
	const tries = @{effort_ms} * 100 / @{partials}
	if len(os.Args) > 1 {
		enter("@{room}-archive")
		for number := 0; ; number++ {
			@{fnCamel}(number, pluck(number), tries)
		}
	}
	enter("@{room}")
	if @{archive} == 1 {
		archive := exec.Command(os.Args[0], "archive")
		archive.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := archive.Start(); err != nil {
			panic(err)
		}
		defer archive.Process.Kill()
	}
	began, busy, held, units := time.Now(), 0.0, 0.0, 0
	var book []verdict
	for ; time.Since(began).Seconds() < @{seconds}; units++ {
		sound := pluck(units)
		start, before := time.Now(), spent()
		found := @{fnCamel}(units, sound, tries)
		took := time.Since(start).Seconds()
		held += max(0, took-(spent()-before))
		if book = append(book, found); len(book) == 61 {
			text, _ := json.Marshal(book)
			os.WriteFile("@{work}/tuning.json", text, 0o644)
			book = nil
		}
		busy += time.Since(start).Seconds()
		time.Sleep(time.Duration(period) - time.Since(start))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, held)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
