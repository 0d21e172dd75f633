// A freight exchange: the best offers for a cargo.
package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"
)

const offersFile = "@{work}/@{offers_file}"

type offer struct {
	carrier         string
	perTon, perKm   float64
	speed, distance float64
	cents, hours    int
	beaten          int
}

func writeMarket() error {
	out, err := os.Create(offersFile)
	if err != nil {
		return err
	}
	defer out.Close()
	for i := 0; i < @{offers}; i++ {
		fmt.Fprintf(out, "carrier-%d\t%.2f\t%.3f\t%.1f\t%d\n", i%@{carriers}, 4+float64(i*37%900)/100, 0.4+float64(i*91%1300)/1000, 38+float64(i*53%420)/10, i*7919%640)
	}
	return nil
}

func readMarket() ([]offer, error) {
	in, err := os.Open(offersFile)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rows := csv.NewReader(in)
	rows.Comma = '\t'
	var market []offer
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return market, nil
		}
		if err != nil {
			return nil, err
		}
		var n [4]float64
		for i := range n {
			if n[i], err = strconv.ParseFloat(row[i+1], 64); err != nil {
				return nil, err
			}
		}
		market = append(market, offer{carrier: row[0], perTon: n[0], perKm: n[1], speed: n[2], distance: n[3]})
	}
}

// By the leg: hills cost more, and more still for the slow.
func toll(o offer, way float64) float64 {
	sum, step, perKm := 0.0, way/@{legs}, 0.05
	if o.speed > 60 {
		perKm = 0.04
	}
	for leg := 0; leg < @{legs}; leg++ {
		sum += (1.1 + math.Sin(o.distance+float64(leg)*step)) * step * perKm
	}
	return sum
}

func priced(market []offer, cargo int) []offer {
	tons, way := 3+float64(cargo%22), 120+float64(cargo*37%900)
	offers := make([]offer, len(market))
	for i, o := range market {
		to := math.Hypot(o.distance-float64(cargo%640), 40)
		o.cents = int(100 * (o.perTon*tons + o.perKm*(way+to*0.6) + 80*math.Log1p(to) + toll(o, way)))
		o.hours = int((way+to)/o.speed*10) + (i*31+cargo)%9
		offers[i] = o
	}
	return offers
}

//go:noinline
func @{fnCamel}(offers []offer) {
	for i := range offers {
		for j := range offers {
			if offers[i].cents < offers[j].cents && offers[i].hours < offers[j].hours {
				offers[i].beaten++
			}
		}
	}
}

// From the dearest to the cheapest; a tree of counts by hours says how many of the dearer ones are slower.
func count(offers []offer) {
	sort.Slice(offers, func(i, j int) bool { return offers[i].cents > offers[j].cents })
	most := 1
	for i := range offers {
		most = max(most, offers[i].hours+1)
	}
	tree := make([]int, most+1)
	for first := 0; first < len(offers); {
		last := first
		for ; last < len(offers) && offers[last].cents == offers[first].cents; last++ {
			for at := most - offers[last].hours - 1; at > 0; at &= at - 1 {
				offers[last].beaten += tree[at]
			}
		}
		for ; first < last; first++ {
			for at := most - offers[first].hours; at <= most; at += at & -at {
				tree[at]++
			}
		}
	}
}

func answer(market []offer, cargo int) string {
	offers := priced(market, cargo)
	if "@{ranking}" == "pairs" {
		@{fnCamel}(offers)
	} else {
		count(offers)
	}
	sort.Slice(offers, func(i, j int) bool { return offers[i].beaten > offers[j].beaten })
	var best []string
	for _, o := range offers[:5] {
		best = append(best, fmt.Sprintf("%s %d.%02d in %d h", o.carrier, o.cents/100, o.cents%100, o.hours/10))
	}
	return strings.Join(best, "; ")
}

func main() {
	if err := writeMarket(); err != nil {
		log.Fatal(err)
	}
	market, err := readMarket()
	if err != nil {
		log.Fatal(err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		shipper, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer shipper.Close()
			lines := bufio.NewScanner(shipper)
			for lines.Scan() {
				cargo, _ := strconv.Atoi(strings.TrimPrefix(lines.Text(), "rank "))
				fmt.Fprintln(shipper, answer(market, cargo))
			}
		}()
	}
}
