// A portal of hotels: keeps what is free by town and night, and answers which is the cheapest.
package main

import (
	"fmt"
	"log"
	"math/rand"
	"os"
	"runtime/metrics"
	"time"
)

const nights = @{nights}

type hotel struct {
	number, stars, cents int
	town                 string
	free                 [nights]int
}

type offer struct {
	hotel *hotel
	night int
	cents int
	label *string
}

type booking struct{ number, night int }

type portal struct {
	hotels []*hotel
	towns  []string
	index  map[string][][]*offer
	chance *rand.Rand
}

func newPortal(count int) *portal {
	p := &portal{chance: rand.New(rand.NewSource(6))}
	for i := 0; i < @{towns}; i++ {
		p.towns = append(p.towns, fmt.Sprintf("town-%d", i))
	}
	for i := 0; i < count; i++ {
		one := &hotel{number: i, stars: 1 + p.chance.Intn(5), cents: 4000 + p.chance.Intn(20000), town: p.towns[i%len(p.towns)]}
		for night := range one.free {
			one.free[night] = p.chance.Intn(5)
		}
		p.hotels = append(p.hotels, one)
	}
	p.index = p.@{fnCamel}()
	return p
}

func price(h *hotel, night int) int { return h.cents + night%7*350 - h.free[night]*80 }

// What is free, by town and night.
//
//go:noinline
func (p *portal) @{fnCamel}() map[string][][]*offer {
	index := map[string][][]*offer{}
	for _, one := range p.hotels {
		all, known := index[one.town]
		if !known {
			all = make([][]*offer, nights)
			index[one.town] = all
		}
		for night := range all {
			if one.free[night] > 0 {
				all[night] = append(all[night], &offer{one, night, price(one, night), &one.town})
			}
		}
	}
	return index
}

func (p *portal) bookings() []booking {
	made := make([]booking, @{bookings})
	for i := range made {
		made[i] = booking{p.chance.Intn(len(p.hotels)), p.chance.Intn(nights)}
		one := p.hotels[made[i].number]
		one.free[made[i].night] = (one.free[made[i].night] + 4) % 5
	}
	return made
}

func (p *portal) changed(made []booking) {
	for _, b := range made {
		one := p.hotels[b.number]
		offers, known := p.index[one.town][b.night], false
		for _, of := range offers {
			if of.hotel == one {
				of.cents, known = price(one, b.night), true
			}
		}
		if !known && one.free[b.night] > 0 {
			p.index[one.town][b.night] = append(offers, &offer{one, b.night, price(one, b.night), &one.town})
		}
	}
}

// The cheapest of a town for a night, by stars.
func (p *portal) cheapest(town string, night int) (best [6]*offer) {
	for _, of := range p.index[town][night] {
		if of.hotel.free[night] > 0 && (best[of.hotel.stars] == nil || of.cents < best[of.hotel.stars].cents) {
			best[of.hotel.stars] = of
		}
	}
	return best
}

func collector() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	p := newPortal(@{hotels} * 3)
	began, before := time.Now(), collector()
	units, busy, shown := 0, time.Duration(0), 0
	built := began
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		made := p.bookings()
		if "@{index}" == "anew" || "@{index}" == "daily" && start.Sub(built).Seconds() > 2 {
			p.index = p.@{fnCamel}()
			built = start
		} else {
			p.changed(made)
		}
		for i := 0; i < 200; i++ {
			for _, of := range p.cheapest(p.towns[(units*200+i)%len(p.towns)], i%nights) {
				if of != nil {
					shown += of.cents
				}
			}
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Duration(float64(units)/@{rate}*1e9) - time.Since(began))
	}
	log.Printf("shown for %d", shown)
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), min(collector()-before, busy.Seconds()))
	if err := os.WriteFile("@{report}", []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
