// Translates the week's texts to Braille, for the embosser in the basement.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"
)

var words = strings.Fields("the reader and a friend go to knowledge for people with like but very just every rather so that us more not have this child still it as you will from do can")
var short = map[string]string{"the": "!", "and": "&", "for": "=", "with": ")", "knowledge": "k", "people": "p", "like": "l", "but": "b", "very": "v",
	"just": "j", "every": "e", "rather": "r", "more": "m", "not": "n", "child": "*", "this": "?"}

type paper struct {
	io.Writer
	flush func() error
}

func open(name string, buffer int) paper {
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	if buffer == 0 {
		return paper{file, func() error { return nil }}
	}
	held := bufio.NewWriterSize(file, buffer)
	return paper{held, held.Flush}
}

func text(number int) string {
	var text strings.Builder
	chance := uint64(number)*0x9E3779B97F4A7C15 + 1
	for text.Len() < @{letters} {
		chance = chance*6364136223846793005 + 1442695040888963407
		text.WriteString(words[int(chance>>33)%len(words)])
		if chance>>60 == 3 {
			text.WriteByte('.')
		}
		text.WriteByte(' ')
	}
	return text.String()
}

// The cells of a text, in lines as the paper takes them.
func translate(text string) []byte {
	var lines []byte
	column := 0
	for _, word := range strings.Fields(text) {
		plain, ends := strings.CutSuffix(word, ".")
		cells, known := short[plain]
		if !known {
			cells = plain
		}
		if ends {
			cells += "4"
		}
		if column+len(cells)+1 > @{cells} {
			lines = append(lines, '\n')
			column = 0
		} else if column > 0 {
			lines = append(lines, ' ')
			column++
		}
		lines = append(lines, cells...)
		column += len(cells)
	}
	return append(lines, '\f')
}

//go:noinline
func @{fn}(to paper, cells []byte) error {
	dots := make([]byte, 1)
	for _, cell := range cells {
		dots[0] = cell & 0x7f
		if _, err := to.Write(dots); err != nil {
			return err
		}
	}
	return to.flush()
}

func main() {
	embosser, bell := open("@{work}/@{spool}", @{buffer}), open("@{work}/bell", 0)
	began := time.Now()
	var busy, culprit time.Duration
	units := 0
	for time.Since(began).Seconds() < @{seconds} {
		given := text(units)
		start := time.Now()
		cells := translate(given)
		translated := time.Now()
		if err := @{fn}(embosser, cells); err != nil {
			log.Fatal(err)
		}
		culprit += time.Since(translated)
		for i := 0; i < @{bells}; i++ {
			bell.Write([]byte{7})
		}
		busy += time.Since(start)
		units++
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / float64(@{rate}) * 1e9))))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
