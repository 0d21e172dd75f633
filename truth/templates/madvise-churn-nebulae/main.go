package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

const wide = @{wide}

// plane is the scratch memory for the exposure of one filter.
type plane struct {
	pixels []byte
	used   time.Time
	held   bool
}

type stacker struct {
	planes []*plane
	chance uint64
	spent  time.Duration
}

func newPlane() *plane {
	memory, err := syscall.Mmap(-1, 0, wide*wide*2, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return &plane{pixels: memory}
}

//go:noinline
func (p *plane) @{fnCamel}() {
	syscall.Madvise(p.pixels, syscall.MADV_DONTNEED)
	p.held = false
}

//go:noinline
func (p *plane) sky(row []byte) {
	for at := 0; at < len(p.pixels); at += copy(p.pixels[at:], row) {
	}
	p.used, p.held = time.Now(), true
}

func (s *stacker) tidy(idle time.Duration) {
	for _, p := range s.planes {
		if p.held && time.Since(p.used) >= idle {
			p.@{fnCamel}()
		}
	}
}

func (s *stacker) expose(number int) (light uint64) {
	row := make([]byte, wide*2)
	for i := range row {
		row[i] = byte(number % 7)
	}
	start := time.Now()
	for _, p := range s.planes {
		p.sky(row)
	}
	s.spent += time.Since(start)
	for i := 0; i < @{stars}; i++ {
		s.chance = s.chance*6364136223846793005 + 1442695040888963407
		x, y := 2+int(s.chance>>33)%(wide-4), 2+int(s.chance>>13&0xffffffff)%(wide-4)
		for _, p := range s.planes {
			for r := y - 2; r <= y+2; r++ {
				for c := 2 * (x - 2); c <= 2*(x+2); c++ {
					p.pixels[r*wide*2+c] += 20
					light += uint64(p.pixels[r*wide*2+c])
				}
			}
		}
	}
	return light
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

func main() {
	idle, rest := seconds(@{idle}), seconds(@{rest})
	s := &stacker{chance: 9}
	for i := 0; i < @{planes}; i++ {
		s.planes = append(s.planes, newPlane())
	}
	began, busy, units, light := time.Now(), time.Duration(0), 0, uint64(0)
	due, clouds := began, began.Add(time.Second)
	for time.Since(began) < seconds(@{seconds}) {
		start := time.Now()
		light += s.expose(units)
		units++
		before := time.Now()
		if idle == 0 {
			s.tidy(idle)
		}
		s.spent += time.Since(before)
		busy += time.Since(start)
		due = due.Add(seconds(1 / @{rate}))
		if rest > 0 && time.Now().After(clouds) {
			time.Sleep(rest / 2)
			s.tidy(idle)
			time.Sleep(rest / 2)
			due = time.Now()
			clouds = due.Add(time.Second)
		}
		time.Sleep(time.Until(due))
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "light": %d}`, units, busy.Seconds(), s.spent.Seconds(), light)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
