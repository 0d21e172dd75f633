// Plans the rounds of the beekeepers of a co-operative. `round N` is answered by one line: the hives to open today, the most urgent first, and the way between them.
package main

import (
	"bufio"
	"fmt"
	"log"
	"math"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

const (
	keepers = @{keepers}
	today   = 20260331
)

type visit struct {
	hive, day, mites, queen int
	weight, x, y            float64
}

type weights map[string]float64

func readWeights(path string) (weights, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := weights{}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		if found[strings.TrimSpace(name)], err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// hiveBook is a line to the book of the hives.
type hiveBook struct {
	line    net.Conn
	answers *bufio.Scanner
}

func openBook() (*hiveBook, error) {
	line, err := net.Dial("unix", "@{work}/@{book}")
	if err != nil {
		return nil, err
	}
	answers := bufio.NewScanner(line)
	answers.Buffer(make([]byte, 4096), 1<<20)
	return &hiveBook{line, answers}, nil
}

func (b *hiveBook) ask(question string) (string, error) {
	if _, err := b.line.Write([]byte(question + "\n")); err != nil {
		return "", err
	}
	if !b.answers.Scan() {
		return "", fmt.Errorf("the book is closed: %v", b.answers.Err())
	}
	_, answer, _ := strings.Cut(b.answers.Text(), " ")
	return answer, nil
}

func (b *hiveBook) hives(keeper int) ([]int, error) {
	answer, err := b.ask("apiary " + strconv.Itoa(keeper))
	if err != nil {
		return nil, err
	}
	var found []int
	for _, word := range strings.Fields(answer) {
		hive, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		found = append(found, hive)
	}
	return found, nil
}

func parseVisit(text string) (v visit, err error) {
	_, err = fmt.Sscan(text, &v.hive, &v.day, &v.weight, &v.mites, &v.queen, &v.x, &v.y)
	return
}

func (b *hiveBook) lastVisit(hive int) (visit, error) {
	answer, err := b.ask("visit " + strconv.Itoa(hive))
	if err != nil {
		return visit{}, err
	}
	return parseVisit(answer)
}

func (b *hiveBook) lastVisits(hives []int) ([]visit, error) {
	answer, err := b.ask("visits " + strings.Trim(fmt.Sprint(hives), "[]"))
	if err != nil {
		return nil, err
	}
	var found []visit
	for _, text := range strings.Split(answer, "; ") {
		v, err := parseVisit(text)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	return found, nil
}

type planner struct {
	book    *hiveBook
	weights weights
	shelf   map[int]visit
}

func (p *planner) @{fnCamel}(hives []int) ([]visit, error) {
	if "@{way}" == "list" {
		return p.book.lastVisits(hives)
	}
	visits := make([]visit, 0, len(hives))
	for _, hive := range hives {
		v, known := p.shelf[hive]
		if !known {
			var err error
			if v, err = p.book.lastVisit(hive); err != nil {
				return nil, err
			}
		}
		visits = append(visits, v)
	}
	return visits, nil
}

func (p *planner) urgency(v visit) float64 {
	return float64(today-v.day)*p.weights["days"] + float64(v.mites)*p.weights["mites"] + float64(v.queen)*p.weights["queen"] - v.weight/10
}

// way goes from each hive to the nearest that is left.
func way(visits []visit) (path float64) {
	left := append([]visit(nil), visits[1:]...)
	for at := visits[0]; len(left) > 0; {
		nearest, least := 0, math.Inf(1)
		for i, v := range left {
			if far := math.Hypot(v.x-at.x, v.y-at.y); far < least {
				nearest, least = i, far
			}
		}
		path += least
		at = left[nearest]
		left = append(left[:nearest], left[nearest+1:]...)
	}
	return path
}

func (p *planner) round(keeper int) (string, error) {
	hives, err := p.book.hives(keeper)
	if err != nil {
		return "", err
	}
	visits, err := p.@{fnCamel}(hives)
	if err != nil {
		return "", err
	}
	sort.Slice(visits, func(i, j int) bool { return p.urgency(visits[i]) > p.urgency(visits[j]) })
	chosen := visits[:int(math.Ceil(float64(len(visits))*p.weights["keep"]))]
	var text strings.Builder
	fmt.Fprintf(&text, "keeper %d hives", keeper)
	for _, v := range chosen {
		fmt.Fprintf(&text, " %d", v.hive)
	}
	fmt.Fprintf(&text, " metres %.0f", way(chosen))
	return text.String(), nil
}

var rounds atomic.Int64

func (p *planner) serve(client net.Conn) {
	defer client.Close()
	asked := bufio.NewScanner(client)
	for asked.Scan() {
		number, err := strconv.Atoi(strings.TrimPrefix(asked.Text(), "round "))
		if err != nil {
			continue
		}
		text, err := p.round(number % keepers)
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := client.Write([]byte(text + "\n")); err != nil {
			return
		}
		if n := rounds.Add(1); n%200 == 0 {
			log.Printf("%d rounds planned", n)
		}
	}
}

func stock(shelf map[int]visit) error {
	book, err := openBook()
	if err != nil {
		return err
	}
	for keeper := 0; keeper < keepers; keeper++ {
		hives, err := book.hives(keeper)
		if err != nil {
			return err
		}
		for _, hive := range hives {
			if shelf[hive], err = book.lastVisit(hive); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	known, err := readWeights("@{work}/weights.conf")
	if err != nil {
		log.Fatal(err)
	}
	shelf := map[int]visit{}
	if "@{way}" == "shelf" {
		if err := stock(shelf); err != nil {
			log.Fatal(err)
		}
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		client, err := door.Accept()
		if err != nil {
			continue
		}
		book, err := openBook()
		if err != nil {
			log.Fatal(err)
		}
		go (&planner{book, known, shelf}).serve(client)
	}
}
