// A jukebox: what is on a shelf, and what to play next.
package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"time"
)

const look = "@{look}"

var culprit time.Duration

type shelf struct {
	albums, tracks int
	newest         time.Time
	next           string
}

//go:noinline
func @{fnCamel}(entries []os.DirEntry, into *shelf) {
	for _, entry := range entries {
		state, err := entry.Info()
		if err != nil {
			continue // It was taken away.
		}
		if state.IsDir() {
			into.albums++
		} else {
			into.tracks++
		}
		if look == "newest" && state.ModTime().After(into.newest) {
			into.newest = state.ModTime()
		}
	}
}

func count(entries []os.DirEntry, into *shelf) {
	for _, entry := range entries {
		if entry.IsDir() {
			into.albums++
		} else {
			into.tracks++
		}
	}
}

func visit(n int) (shelf, error) {
	var found shelf
	entries, err := os.ReadDir(fmt.Sprintf("@{work}/@{collection}/shelf%d", n%@{shelves}))
	if err != nil {
		return found, err
	}
	if look == "listing" {
		count(entries, &found)
	} else {
		from := time.Now()
		@{fnCamel}(entries, &found)
		if look == "each" {
			culprit += time.Since(from)
		}
	}
	best := uint32(0)
	for _, entry := range entries[:min(len(entries), 400)] {
		key := fnv.New32a()
		fmt.Fprint(key, n, entry.Name())
		if key.Sum32() > best {
			best, found.next = key.Sum32(), entry.Name()
		}
	}
	return found, nil
}

func main() {
	units, albums, tracks := 0, 0, 0
	var busy time.Duration
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		found, err := visit(units)
		if err != nil {
			panic(err)
		}
		albums += found.albums
		tracks += found.tracks
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	fmt.Println(albums, "albums", tracks, "tracks")
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		panic(err)
	}
}
