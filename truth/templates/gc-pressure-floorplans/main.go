// An editor of floor plans: draughtsmen move walls, doors and furniture, and may undo what they did.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime/metrics"
	"time"
)

const whole = "@{way}" == "whole"

type point struct{ x, y int }

type thing struct {
	id    int
	label *string
	at    *point
	wide  int
}

type step struct {
	things []*thing
	number int
	at     point
}

type plan struct {
	things []*thing
	steps  []step
}

func newPlan() *plan {
	p := &plan{}
	for i := 0; i < @{size}; i++ {
		label := fmt.Sprintf("thing %d of room %d", i, i/9)
		p.things = append(p.things, &thing{i, &label, &point{i * 37 % 900, i * 53 % 700}, 5 + i%60})
	}
	return p
}

//go:noinline
func (p *plan) @{fnCamel}() []*thing {
	things := make([]*thing, 0, len(p.things))
	for _, one := range p.things {
		at := *one.at
		things = append(things, &thing{one.id, one.label, &at, one.wide})
	}
	return things
}

func (p *plan) move(number int, to point) {
	before := step{number: number, at: *p.things[number].at}
	if whole {
		before.things = p.@{fnCamel}()
	}
	p.steps = append(p.steps, before)
	if len(p.steps) > @{steps} {
		copy(p.steps, p.steps[1:])
		p.steps = p.steps[:@{steps}]
	}
	*p.things[number].at = to
}

func (p *plan) undo() {
	last := p.steps[len(p.steps)-1]
	p.steps = p.steps[:len(p.steps)-1]
	if whole {
		p.things = last.things
	} else {
		*p.things[last.number].at = last.at
	}
}

func distance(a, b int) int {
	return max(a-b, b-a)
}

// How many things lie in the way of one.
func (p *plan) collisions(number int) int {
	moved, count := p.things[number], 0
	for _, one := range p.things {
		if one != moved && distance(one.at.x, moved.at.x) < one.wide && distance(one.at.y, moved.at.y) < one.wide {
			count++
		}
	}
	return count
}

func collected() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}

func main() {
	p := newPlan()
	units, blocked := 0, 0
	var busy float64
	before, began := collected(), time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		for i := 0; i < 80; i++ {
			number := (units*80 + i) * 7 % @{size}
			p.move(number, point{(units + i*91) % 900, (units*3 + i*17) % 700})
			if p.collisions(number) > 12 {
				p.undo()
				blocked++
			}
		}
		units++
		busy += time.Since(start).Seconds()
		time.Sleep(time.Duration((float64(units)/@{rate} - time.Since(began).Seconds()) * 1e9))
	}
	log.Printf("%d moves were blocked", blocked)
	text, _ := json.Marshal(map[string]any{"units": units, "seconds": busy, "culprit": min(busy, collected()-before)})
	if err := os.WriteFile("@{report}", text, 0o644); err != nil {
		log.Fatal(err)
	}
}
