// A portal of public tenders: bidders ask for what they may win, and are told when it changes.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"sort"
	"strconv"
	"strings"
	"sync"
)

const lots = @{lots}

type lot struct {
	title string
	buyer *string
	cents int64
	needs []*lot
}

// watcher gets to know of the changes of a tender.
type watcher struct {
	bidder int
	lots   []*lot
	notify func(change string)
}

type portal struct {
	mutex    sync.Mutex
	watchers []*watcher
	changes  int
}

func tender(number int) []*lot {
	all := make([]*lot, lots)
	for i := range all {
		buyer := "town " + strconv.Itoa(number%97+i)
		all[i] = &lot{title: "lot " + strconv.Itoa(number*31+i), buyer: &buyer, cents: int64(number*7919 + i*i*37)}
		if i > 0 {
			all[i].needs = append(all[i].needs, all[i/2])
		}
	}
	return all
}

func (p *portal) @{fnCamel}(bidder int) *watcher {
	w := &watcher{bidder: bidder, lots: tender(bidder)}
	w.notify = func(change string) { w.lots[len(change)%lots].cents++ }
	p.watchers = append(p.watchers, w)
	if over := len(p.watchers) - @{most}; over > 0 {
		for i := 0; i < over; i++ {
			p.watchers[i] = nil
		}
		p.watchers = p.watchers[over:]
	}
	return w
}

// best ranks what a bidder could offer.
func best(w *watcher) []string {
	type offer struct {
		name  string
		score int64
	}
	offers := make([]*offer, 0, @{bids})
	for i := 0; i < @{bids}; i++ {
		l := w.lots[i*7%lots]
		score := l.cents % int64(i+11)
		for _, need := range l.needs {
			score += need.cents % 13
		}
		offers = append(offers, &offer{fmt.Sprintf("%s for %s, variant %d", l.title, *l.buyer, i), score})
	}
	sort.Slice(offers, func(a, b int) bool { return offers[a].score > offers[b].score })
	names := make([]string, 0, 3)
	for _, o := range offers[:3] {
		names = append(names, o.name)
	}
	return names
}

func (p *portal) bid(number int) string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var w *watcher
	for i := 0; i < 6; i++ {
		w = p.@{fnCamel}(number*6 + i)
	}
	p.changes++
	w.notify(strconv.Itoa(p.changes))
	return strings.Join(best(w), "; ")
}

func (p *portal) talk(bidder net.Conn) {
	defer bidder.Close()
	lines := bufio.NewScanner(bidder)
	for lines.Scan() {
		number, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "bid "))
		if err != nil {
			fmt.Fprintln(bidder, "error: bid NUMBER")
			continue
		}
		fmt.Fprintln(bidder, p.bid(number))
	}
}

func main() {
	p := &portal{}
	for i := 0; i < @{start}; i++ {
		p.@{fnCamel}(i)
	}
	door, err := net.Listen("tcp", "127.0.0.1:@{port}")
	if err != nil {
		log.Fatal(err)
	}
	for {
		bidder, err := door.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go p.talk(bidder)
	}
}
