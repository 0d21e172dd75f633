// Prints the playlists of the day: for each the lines that the presenter reads, with its length.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

type database struct {
	connection net.Conn
	answers    *bufio.Reader
}

func (d *database) query(text string, values ...any) (rows [][]string) {
	fmt.Fprintf(d.connection, text+"\n", values...)
	line, err := d.answers.ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
		rows = append(rows, strings.Split(row, ";"))
	}
	return rows
}

type performer struct{ name, town string }

type track struct {
	title   string
	seconds int
	by      string
	who     *performer
}

type printer struct {
	base  *database
	spent time.Duration
}

// Who plays a track; loaded when somebody wants to know.
//
//go:noinline
func (p *printer) @{fnCamel}(t *track) *performer {
	if t.who == nil {
		start := time.Now()
		row := p.base.query("select name, town from @{people} where id = %s", t.by)[0]
		p.spent += time.Since(start)
		t.who = &performer{row[0], row[1]}
	}
	return t.who
}

func (p *printer) tracks(list int) (tracks []*track) {
	text := "select title, seconds, by_id from lists join tracks on tracks.id = track where lists.id = %d order by place"
	if @{joined} == 1 {
		text = "select title, seconds, by_id, name, town from lists join tracks on tracks.id = track join @{people} on @{people}.id = by_id where lists.id = %d order by place"
	}
	for _, row := range p.base.query(text, list) {
		seconds, _ := strconv.Atoi(row[1])
		one := &track{title: row[0], seconds: seconds, by: row[2]}
		if len(row) > 4 {
			one.who = &performer{row[3], row[4]}
		}
		tracks = append(tracks, one)
	}
	return tracks
}

func (p *printer) page(list int) string {
	var page strings.Builder
	at := 0
	for _, one := range p.tracks(list) {
		who := p.@{fnCamel}(one)
		fmt.Fprintf(&page, "%02d:%02d  %-30s %s (%s)\n", at/60, at%60, one.title, who.name, who.town)
		at += one.seconds
	}
	return page.String()
}

func main() {
	connection, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	desk := &printer{base: &database{connection, bufio.NewReader(connection)}}
	var busy time.Duration
	units, letters := 0, 0
	began := time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		letters += len(desk.page(units % 50))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	fmt.Println(units, "pages", letters)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), desk.spent.Seconds())
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
