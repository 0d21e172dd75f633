// Mails the singers of an association of choirs when they rehearse next. Each choir has a goroutine.
package main

import (
	"fmt"
	"log"
	"net/smtp"
	"os"
	"strings"
	"sync"
	"time"
)

type choir struct {
	number        int
	units         int
	busy, calling time.Duration
	dialogue      *smtp.Client
	letters       int
}

func (c *choir) letter(singer int) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "Subject: Rehearsals of choir %d\r\nTo: singer%d@singers.test\r\n\r\nDear singer,\r\n", c.number, singer)
	for i := 0; i < @{dates}; i++ {
		day := []string{"Monday", "Tuesday", "Thursday"}[(singer+i)%3]
		fmt.Fprintf(&text, "  %d. week: %s, %d o'clock\r\n", i+1, day, 18+singer*i%3)
	}
	return []byte(text.String())
}

func (c *choir) dial() error {
	start := time.Now()
	defer func() { c.calling += time.Since(start) }()
	dialogue, err := smtp.Dial("127.0.0.1:@{port}")
	if err != nil {
		return err
	}
	c.dialogue, c.letters = dialogue, 0
	return dialogue.Hello("choirs.singers.test")
}

func (c *choir) deliver(singer int, text []byte) error {
	if err := c.dialogue.Mail("rehearsals@singers.test"); err != nil {
		return err
	}
	if err := c.dialogue.Rcpt(fmt.Sprintf("singer%d@singers.test", singer)); err != nil {
		return err
	}
	body, err := c.dialogue.Data()
	if err != nil {
		return err
	}
	if _, err := body.Write(text); err != nil {
		return err
	}
	return body.Close()
}

//go:noinline
func (c *choir) @{fnCamel}(singer int, text []byte) error {
	if c.dialogue == nil {
		if err := c.dial(); err != nil {
			return err
		}
	}
	if err := c.deliver(singer, text); err != nil {
		return err
	}
	if c.letters++; c.letters < @{together} {
		return nil
	}
	start := time.Now()
	err := c.dialogue.Quit()
	c.dialogue = nil
	c.calling += time.Since(start)
	return err
}

func (c *choir) work() {
	begin := time.Now()
	due, letters := begin, float64(@{rate})/@{choirs}
	for time.Since(begin).Seconds() < @{seconds} {
		start := time.Now()
		if err := c.@{fnCamel}(c.units, c.letter(c.units)); err != nil {
			log.Fatal(err)
		}
		c.busy += time.Since(start)
		c.units++
		due = due.Add(time.Duration(float64(time.Second) / letters))
		if now := time.Now(); due.Before(now) {
			due = now
		}
		time.Sleep(time.Until(due))
	}
	if c.dialogue != nil {
		c.dialogue.Quit()
	}
}

func main() {
	choirs := make([]choir, @{choirs})
	var all sync.WaitGroup
	for i := range choirs {
		choirs[i].number = i + 1
		all.Add(1)
		go func() {
			defer all.Done()
			choirs[i].work()
		}()
	}
	all.Wait()
	var sum choir
	for i := range choirs {
		sum.units += choirs[i].units
		sum.busy += choirs[i].busy
		sum.calling += choirs[i].calling
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, sum.units, sum.busy.Seconds(), sum.calling.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
