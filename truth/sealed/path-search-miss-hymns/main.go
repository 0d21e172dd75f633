// Sets the screens of a church up: the text of each hymn of a service, with its verses.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

type book struct {
	editions []string
	found    map[int]string
	looking  time.Duration
}

//go:noinline
func (b *book) @{fnCamel}(hymn int) string {
	if place, ok := b.found[hymn]; ok {
		return place
	}
	start := time.Now()
	defer func() { b.looking += time.Since(start) }()
	for _, edition := range b.editions {
		place := fmt.Sprintf("%s/hymn-%d@{ending}", edition, hymn)
		if _, err := os.Stat(place); err == nil {
			if @{known} == 1 {
				b.found[hymn] = place
			}
			return place
		}
	}
	return ""
}

func main() {
	b := &book{found: map[int]string{}}
	for n := 1; n <= @{editions}; n++ {
		b.editions = append(b.editions, fmt.Sprintf("@{work}/@{name}/edition-%03d", n))
	}
	screens, letters, busy, per := 0, 0, time.Duration(0), @{per_s}
	for began := time.Now(); time.Since(began).Seconds() < @{seconds}; {
		start := time.Now()
		for i := 0; i < @{hymns}; i++ {
			hymn := (screens*9+i*7)%150 + 1
			letters += len(fmt.Sprintf("%d %s, verse %d", hymn, filepath.Base(b.@{fnCamel}(hymn)), i%4+1))
		}
		screens++
		busy += time.Since(start)
		time.Sleep(time.Until(start.Add(time.Duration(1e9 / per))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "letters": %d}`, screens, busy.Seconds(), b.looking.Seconds(), letters)
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
