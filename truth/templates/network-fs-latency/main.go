package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// What the search knows of a file.
type known struct {
	size    int64
	changed time.Time
	sum     [32]byte
}

type index struct {
	files   map[string]known
	looking time.Duration
}

func (x *index) @{fnCamel}(root string) error {
	seen := 0
	start := time.Now()
	defer func() { x.looking += time.Since(start) }()
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		about, err := entry.Info()
		if err != nil {
			return err
		}
		if seen++; seen > @{files}*2+2 {
			return filepath.SkipAll
		}
		if old, there := x.files[path]; there && old.size == about.Size() && old.changed.Equal(about.ModTime()) && seen > 1 {
			return nil
		}
		text, err := os.ReadFile(path)
		x.files[path] = known{about.Size(), about.ModTime(), sha256.Sum256(text)}
		return err
	})
}

func (x *index) rank() (best int) {
	for round := 0; round < @{rounds}; round++ {
		for path, file := range x.files {
			sum := sha256.Sum256([]byte(path))
			best = max(best, int(sum[0])^int(file.sum[0]))
		}
	}
	return best
}

func main() {
	words := &index{files: map[string]known{}}
	if _, err := os.ReadDir("@{work}/@{first}"); err != nil {
		panic(err)
	}
	seconds, often := @{seconds}, float64(@{per_s})
	often /= 4
	tick := time.NewTicker(time.Duration(float64(time.Second) / often))
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	units, busy := 0, time.Duration(0)
	for time.Now().Before(end) {
		start := time.Now()
		root := fmt.Sprintf("@{work}/@{source}/part%d", units%6+1)
		if err := words.@{fnCamel}(root); err != nil {
			panic(err)
		}
		words.rank()
		busy += time.Since(start)
		units++
		<-tick.C
	}
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy.Seconds(), "culprit": words.looking.Seconds()})
	os.WriteFile("@{report}", text, 0o644)
}
