// The milk report of a dairy: what each herd will give, and which cows the vet should see.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type store struct {
	conn net.Conn
	in   *bufio.Reader
}

func (s *store) send(commands ...[]string) {
	var out strings.Builder
	for _, words := range commands {
		fmt.Fprintf(&out, "*%d\r\n", len(words))
		for _, word := range words {
			fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	io.WriteString(s.conn, out.String())
}

func (s *store) answer() []string {
	line, err := s.in.ReadString('\n')
	if err != nil {
		panic(err)
	}
	number, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '*':
		var all []string
		for ; number > 0; number-- {
			all = append(all, s.answer()...)
		}
		return all
	case '$':
		text := make([]byte, number+2)
		io.ReadFull(s.in, text)
		return []string{string(text[:number])}
	case '-':
		panic(line)
	}
	return []string{strings.TrimSpace(line[1:])}
}

type cow struct {
	name   string
	litres float64
	calved int
}

func parse(pairs []string) (found cow) {
	for i := 0; i+1 < len(pairs); i += 2 {
		switch pairs[i] {
		case "name":
			found.name = pairs[i+1]
		case "litres":
			found.litres, _ = strconv.ParseFloat(pairs[i+1], 64)
		case "calved":
			found.calved, _ = strconv.Atoi(pairs[i+1])
		}
	}
	return found
}

type dairy struct {
	*store
	asking time.Duration
}

func (d *dairy) @{fnCamel}(ids []string) []cow {
	start := time.Now()
	var cows []cow
	if "@{way}" == "together" {
		var questions [][]string
		for _, id := range ids {
			questions = append(questions, []string{"HGETALL", "@{space}:" + id})
		}
		d.send(questions...)
		for range ids {
			cows = append(cows, parse(d.answer()))
		}
	} else {
		for _, id := range ids {
			d.send([]string{"HGETALL", "@{space}:" + id})
			cows = append(cows, parse(d.answer()))
		}
	}
	d.asking += time.Since(start)
	return cows
}

func (d *dairy) ids(number int) []string {
	if "@{way}" == "visit" {
		return []string{strconv.Itoa(number%@{herds}*1000 + number%@{cows})}
	}
	d.send([]string{"SMEMBERS", fmt.Sprintf("herd:%d", number%@{herds})})
	found := d.answer()
	sort.Strings(found)
	return found
}

// Wood's curve of the days after the calf.
func (c cow) lactation() (most float64) {
	for ration := 0; ration < @{rations}*4; ration++ {
		sum := 0.0
		for ahead := 1; ahead <= @{days}; ahead++ {
			day := float64(c.calved + ahead)
			sum += c.litres * (0.06 + float64(ration)*1e-4) * math.Pow(day, 0.2) * math.Exp(-0.004*day)
		}
		most = math.Max(most, sum)
	}
	return most
}

func (d *dairy) report(number int) string {
	cows := d.@{fnCamel}(d.ids(number))
	total, least, weak := 0.0, math.Inf(1), ""
	for _, one := range cows {
		sum := one.lactation()
		total += sum
		if sum < least {
			least, weak = sum, one.name
		}
	}
	return fmt.Sprintf("herd %d: %.1f litres, vet: %s", number%@{herds}, total/float64(len(cows)), weak)
}

func (d *dairy) stock() {
	for herd := 0; herd < @{herds}; herd++ {
		var commands [][]string
		for i := 0; i < @{cows}; i++ {
			id := herd*1000 + i
			commands = append(commands, []string{"SADD", fmt.Sprintf("herd:%d", herd), strconv.Itoa(id)})
			commands = append(commands, []string{"HSET", fmt.Sprintf("@{space}:%d", id), "name", fmt.Sprintf("Berta %d", id%97),
				"litres", strconv.Itoa(18 + id%17), "age", strconv.Itoa(2 + id%9), "calved", strconv.Itoa(id % 300)})
		}
		d.send(commands...)
		for range commands {
			d.answer()
		}
	}
}

func main() {
	conn, err := net.Dial("tcp", "127.0.0.1:@{port}")
	if err != nil {
		panic(err)
	}
	d := &dairy{store: &store{conn, bufio.NewReader(conn)}}
	d.stock()
	began, busy, units := time.Now(), time.Duration(0), 0
	var lines []string
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		lines = append(lines, d.report(units))
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(float64(units) / @{rate} * 1e9))))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), d.asking.Seconds())
	os.WriteFile("@{report}", []byte(text), 0o644)
}
