// Takes recordings of bird song into the archive: who sings, how loud, and the line in the index by which it is found again.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const sampling = 22050

var voices = map[string]float64{"bittern": 900, "owl": 2500, "blackbird": 4800, "wren": 5400, "goldcrest": 7000}

type entry struct {
	name, total, day string
	length           int64
}

type index struct {
	known map[string]string
	lines strings.Builder
}

func told(name string, arguments ...string) (string, error) {
	text, err := exec.Command(name, arguments...).Output()
	return strings.TrimSpace(string(text)), err
}

// @{fnCamel} tells sum, length and day of a recording.
//
//go:noinline
func (x *index) @{fnCamel}(path string) (entry, error) {
	found := entry{name: strings.TrimSuffix(filepath.Base(path), ".pcm")}
	if @{outside} == 1 {
		total, err := told("/usr/bin/sha256sum", path)
		if err != nil {
			return found, err
		}
		length, err := told("/usr/bin/wc", "-c", path)
		if err != nil {
			return found, err
		}
		found.total = strings.Fields(total)[0]
		found.length, _ = strconv.ParseInt(strings.Fields(length)[0], 10, 64)
		found.day, err = told("/usr/bin/date", "-u", "-r", path, "+%Y-%m-%d")
		return found, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return found, err
	}
	state, err := os.Stat(path)
	if err != nil {
		return found, err
	}
	total := sha256.Sum256(content)
	found.total, found.length, found.day = hex.EncodeToString(total[:]), state.Size(), state.ModTime().UTC().Format("2006-01-02")
	return found, nil
}

func (x *index) add(path, voice string, loud float64) error {
	one, err := x.@{fnCamel}(path)
	if err != nil {
		return err
	}
	if first, is := x.known[one.total]; is && first != one.name {
		voice += " as " + first
	}
	x.known[one.total] = one.name
	fmt.Fprintf(&x.lines, "%s\t%s\t%s\t%.1f\t%.2f s\t%s\n", one.name, one.day, voice, loud, float64(one.length)/2/sampling, one.total[:16])
	return nil
}

// strength is how much of a pitch is in a recording.
func strength(samples []float64, pitch float64) float64 {
	turn := 2 * math.Cos(2*math.Pi*pitch/sampling)
	var one, two float64
	for _, sample := range samples {
		one, two = sample+turn*one-two, one
	}
	return one*one + two*two - turn*one*two
}

// heard tells who sings, and how loud.
func heard(path string) (string, float64, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", 0, err
	}
	samples, power := make([]float64, len(content)/2), 0.0
	for i := range samples {
		samples[i] = float64(int16(binary.LittleEndian.Uint16(content[2*i:])))
		power += samples[i] * samples[i]
	}
	best, most := "", -1.0
	for voice, pitch := range voices {
		sum := 0.0
		for overtone := 1.0; overtone < 5; overtone++ {
			sum += strength(samples, pitch*overtone/2)
		}
		if sum > most {
			best, most = voice, sum
		}
	}
	return best, math.Sqrt(power / float64(len(samples))), nil
}

func main() {
	folder := os.Args[1]
	recordings, err := filepath.Glob(filepath.Join(folder, "*.pcm"))
	if err != nil || len(recordings) == 0 {
		log.Fatal("no recordings in ", folder)
	}
	all := &index{known: map[string]string{}}
	units := 0
	var busy, spent time.Duration
	began := time.Now()
	packed, fresh := began, []string{}
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		path := recordings[units%len(recordings)]
		voice, loud, err := heard(path)
		if err != nil {
			log.Fatal(err)
		}
		asked := time.Now()
		if err := all.add(path, voice, loud); err != nil {
			log.Fatal(err)
		}
		spent += time.Since(asked)
		fresh = append(fresh, filepath.Base(path))
		units++
		busy += time.Since(start)
		if @{pack_s} > 0 && time.Since(packed).Seconds() > @{pack_s} {
			// What came since the last pack, as the tape wants it.
			tape := fmt.Sprintf("%s-%d.tar", folder, units)
			if _, err := told("/usr/bin/tar", append([]string{"-cf", tape, "-C", folder}, fresh...)...); err != nil {
				log.Fatal(err)
			}
			packed, fresh = time.Now(), nil
		}
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	os.WriteFile(filepath.Join(filepath.Dir(folder), "index.tsv"), []byte(all.lines.String()), 0o644)
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
