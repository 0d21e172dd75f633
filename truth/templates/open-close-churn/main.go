package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

type mailer struct {
	text    []byte
	at      time.Time
	units   int
	busy    time.Duration
	culprit time.Duration
	sum     uint32
}

func (m *mailer) @{fnCamel}() []byte {
	began := time.Now()
	if m.text == nil || began.Sub(m.at) >= @{keep_s}*time.Second {
		text, err := os.ReadFile("@{work}/@{folder}/@{letter}")
		if err != nil {
			panic(err)
		}
		m.text, m.at = text, began
		m.culprit += time.Since(began)
	}
	return m.text
}

// send makes the letters of one order.
func (m *mailer) send(order int) {
	start := time.Now()
	for i := 0; i < @{reads}; i++ {
		text := m.@{fnCamel}()
		for k := 0; k < @{extra}*20; k++ {
			m.sum = m.sum*31 + uint32(text[k%len(text)])
		}
	}
	m.units++
	m.busy += time.Since(start)
}

func main() {
	orders := make(chan int)
	mailers := make([]mailer, @{workers})
	var all sync.WaitGroup
	for i := range mailers {
		all.Add(1)
		go func(m *mailer) {
			defer all.Done()
			for order := range orders {
				m.send(order)
			}
		}(&mailers[i])
	}
	began := time.Now()
	for n := 1; time.Since(began).Seconds() < @{seconds}; n++ {
		orders <- n
		time.Sleep(time.Until(began.Add(time.Duration(float64(n) / @{rate} * 1e9))))
	}
	close(orders)
	all.Wait()
	var total mailer
	for _, m := range mailers {
		total.units += m.units
		total.busy += m.busy
		total.culprit += m.culprit
		total.sum += m.sum
	}
	text := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f, "odd": %d}`, total.units, total.busy.Seconds(), total.culprit.Seconds(), total.sum&1)
	os.WriteFile("@{report}", []byte(text), 0o644)
}
