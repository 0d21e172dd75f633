// Sends the invitations of a caterer: who is invited, and to what, becomes a letter in the outbox.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

type course struct {
	Name   string `json:"name"`
	Beside string `json:"beside"`
}

type guest struct {
	Number  int      `json:"number"`
	Name    string   `json:"name"`
	Day     int      `json:"day"`
	Table   int      `json:"table"`
	Courses []course `json:"courses"`
}

var (
	names   = strings.Fields("Adams Baker Clark Davis Evans Foster Green Harris Irving Jones King Lewis Moore Nash Owens")
	dishes  = strings.Fields("beet broth carp duck fennel goose hake lentil morel oyster pear quail salmon trout veal")
	besides = strings.Fields("barley bread capers chives cress dill leek mint rice sage thyme")
)

// A setter of letters that is at work.
type setter struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func (m *mailer) @{fnCamel}() (*setter, error) {
	command := exec.Command("/usr/bin/ruby", "@{work}/@{tool}")
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	command.Stderr = os.Stderr
	return &setter{command, in, bufio.NewReaderSize(out, 1<<16)}, command.Start()
}

func (s *setter) letter(g guest) (string, float64, error) {
	text, err := json.Marshal(g)
	if err != nil {
		return "", 0, err
	}
	if _, err = s.in.Write(append(text, '\n')); err != nil {
		return "", 0, err
	}
	line, err := s.out.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	took, letter, _ := strings.Cut(line, "\t")
	inner, err := strconv.ParseFloat(took, 64)
	return letter, inner, err
}

func (s *setter) end() error {
	s.in.Close()
	return s.command.Wait()
}

type mailer struct {
	box     *os.File
	setter  *setter
	waiting []guest
	since   time.Time
	inner   float64
	count   int
}

func (m *mailer) put(s *setter, g guest) error {
	letter, inner, err := s.letter(g)
	if err != nil {
		return err
	}
	m.inner += inner
	m.count++
	_, err = m.box.WriteString(letter)
	return err
}

func (m *mailer) batch(guests []guest) error {
	s, err := m.@{fnCamel}()
	if err != nil {
		return err
	}
	for _, g := range guests {
		if err = m.put(s, g); err != nil {
			return err
		}
	}
	return s.end()
}

func (m *mailer) send(g guest) error {
	switch "@{start}" {
	case "guest":
		return m.batch([]guest{g})
	case "once":
		return m.put(m.setter, g)
	}
	m.waiting = append(m.waiting, g)
	if time.Since(m.since).Seconds() < @{gather} {
		return nil
	}
	guests := m.waiting
	m.waiting, m.since = nil, time.Now()
	return m.batch(guests)
}

func invited(number int) guest {
	g := guest{Number: number, Name: names[number%len(names)], Day: 1 + number%27, Table: number % 40}
	for i := 0; i < @{courses}; i++ {
		g.Courses = append(g.Courses, course{dishes[(number+i*3)%len(dishes)], besides[(number*5+i)%len(besides)]})
	}
	return g
}

func main() {
	box, err := os.Create("@{work}/@{box}")
	if err != nil {
		log.Fatal(err)
	}
	m := &mailer{box: box, since: time.Now()}
	if "@{start}" == "once" {
		if m.setter, err = m.@{fnCamel}(); err != nil {
			log.Fatal(err)
		}
		m.put(m.setter, invited(0))
	}
	units, busy, spent, rate := 0, 0.0, 0.0, @{rate}
	began := time.Now()
	due := began
	for time.Since(began).Seconds() < @{seconds} {
		due = due.Add(time.Duration(1e9 / rate))
		if late := time.Until(due); late > 0 {
			time.Sleep(late)
		} else {
			due = time.Now()
		}
		g := invited(units)
		m.inner = 0
		start := time.Now()
		if err := m.send(g); err != nil {
			log.Fatal("guest ", g.Number, ": ", err)
		}
		took := time.Since(start).Seconds()
		busy += took
		spent += took - m.inner
		units++
	}
	if m.setter != nil {
		m.setter.end()
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, max(spent, 0))
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
