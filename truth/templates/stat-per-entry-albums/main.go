// Takes photos onto a shelf, and makes the page of the album after each: how many photos and folders it has.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const shelf = "@{work}/@{shelf}"

var (
	listing time.Duration
	preview = make([]byte, 3000)
)

type album struct {
	Path    string
	Photos  []string
	Folders []string
	Changed time.Time
}

//go:noinline
func @{fnCamel}(path string) (*album, error) {
	start := time.Now()
	defer func() { listing += time.Since(start) }()
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	found := &album{Path: path}
	if "@{kinds}" == "ask" {
		infos, err := folder.Readdir(-1)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if info.IsDir() {
				found.Folders = append(found.Folders, info.Name())
			} else {
				found.Photos = append(found.Photos, info.Name())
			}
		}
		return found, nil
	}
	entries, err := folder.ReadDir(-1)
	for _, entry := range entries {
		if entry.IsDir() {
			found.Folders = append(found.Folders, entry.Name())
		} else {
			found.Photos = append(found.Photos, entry.Name())
		}
	}
	return found, err
}

func (a *album) newest() {
	for _, name := range a.Photos {
		if info, err := os.Stat(filepath.Join(a.Path, name)); err == nil && info.ModTime().After(a.Changed) {
			a.Changed = info.ModTime()
		}
	}
}

func page(number, albums int) ([]byte, error) {
	path := filepath.Join(shelf, strconv.Itoa(number%albums+1))
	if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("new-%05d.jpg", number)), preview, 0o644); err != nil {
		return nil, err
	}
	found, err := @{fnCamel}(path)
	if err != nil {
		return nil, err
	}
	if @{newest} > 0 && number%(@{newest}+1) == @{newest} {
		found.newest()
	}
	return json.Marshal(map[string]any{"album": found.Path, "photos": len(found.Photos), "first": found.Photos[:20], "folders": found.Folders, "changed": found.Changed})
}

func main() {
	out, err := os.Create("@{work}/pages.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	begin, units, busy := time.Now(), 0, time.Duration(0)
	for time.Since(begin).Seconds() < @{seconds} {
		start := time.Now()
		text, err := page(units, @{albums})
		if err != nil {
			log.Fatal(err)
		}
		out.Write(append(text, '\n'))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(begin.Add(time.Duration(units) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), listing.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
