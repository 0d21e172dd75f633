// Gateway of the weather stations in the vineyards: reads their sensors in rounds and publishes the values by MQTT.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"os"
	"sync"
	"time"
)

const (
	connect    = 0x10
	publish    = 0x32
	disconnect = 0xE0
)

// session is a connection to the broker that has let us in.
type session struct {
	conn net.Conn
	next uint16
}

func text(b *bytes.Buffer, s string) {
	binary.Write(b, binary.BigEndian, uint16(len(s)))
	b.WriteString(s)
}

func packet(kind byte, body []byte) []byte {
	out := []byte{kind}
	for n := len(body); ; {
		digit := byte(n & 127)
		if n >>= 7; n > 0 {
			out = append(out, digit|128)
			continue
		}
		return append(append(out, digit), body...)
	}
}

func dial(client string) (*session, error) {
	conn, err := net.Dial("tcp", "127.0.0.1:@{broker}")
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	text(&body, "MQTT")
	body.Write([]byte{4, 0xC2, 0, 60})
	for _, word := range []string{client, "cooperative", "riesling"} {
		text(&body, word)
	}
	if _, err := conn.Write(packet(connect, body.Bytes())); err != nil {
		return nil, err
	}
	var answer [4]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, err
	}
	if answer[3] != 0 {
		return nil, fmt.Errorf("the broker refuses: %d", answer[3])
	}
	return &session{conn: conn}, nil
}

func (s *session) publish(topic, payload string) error {
	s.next++
	var body bytes.Buffer
	text(&body, topic)
	binary.Write(&body, binary.BigEndian, s.next)
	body.WriteString(payload)
	if _, err := s.conn.Write(packet(publish, body.Bytes())); err != nil {
		return err
	}
	var ack [4]byte
	if _, err := io.ReadFull(s.conn, ack[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint16(ack[2:]) != s.next {
		return errors.New("another packet is acknowledged")
	}
	return nil
}

func (s *session) close() {
	s.conn.Write(packet(disconnect, nil))
	s.conn.Close()
}

type station struct {
	number        int
	kept          *session
	units         int
	busy, joining time.Duration
}

//go:noinline
func (s *station) @{fnCamel}(topic, payload string) error {
	use := s.kept
	if use == nil {
		start := time.Now()
		var err error
		if use, err = dial(fmt.Sprintf("station-%d", s.number)); err != nil {
			return err
		}
		s.joining += time.Since(start)
	}
	if err := use.publish(topic, payload); err != nil {
		return err
	}
	if "@{session}" == "kept" {
		s.kept = use
		return nil
	}
	start := time.Now()
	use.close()
	s.joining += time.Since(start)
	return nil
}

func (s *station) measure(round, sensor int) float64 {
	return 12 + 9*math.Sin(float64(round)/40+float64(s.number)) + float64(sensor*sensor%7)
}

func (s *station) round(round int) error {
	low, high := math.Inf(1), math.Inf(-1)
	for sensor := 0; sensor < @{sensors}; sensor++ {
		value := s.measure(round, sensor)
		low, high = min(low, value), max(high, value)
		if "@{content}" == "values" {
			topic := fmt.Sprintf("@{topic}/%d/sensor/%d", s.number, sensor)
			if err := s.@{fnCamel}(topic, fmt.Sprintf(`{"round":%d,"value":%.2f}`, round, value)); err != nil {
				return err
			}
		}
	}
	if "@{content}" == "values" {
		return nil
	}
	return s.@{fnCamel}(fmt.Sprintf("@{topic}/%d/summary", s.number), fmt.Sprintf(`{"round":%d,"low":%.2f,"high":%.2f}`, round, low, high))
}

func (s *station) run(begun time.Time) {
	for time.Since(begun).Seconds() < @{seconds} {
		start := time.Now()
		if err := s.round(s.units); err != nil {
			log.Fatalf("station %d: %v", s.number, err)
		}
		s.units++
		s.busy += time.Since(start)
		time.Sleep(time.Duration(float64(s.units)/@{rate}*1e9) - time.Since(begun))
	}
}

func main() {
	var all [@{stations}]station
	var group sync.WaitGroup
	begun := time.Now()
	for i := range all {
		all[i].number = i
		group.Go(func() { all[i].run(begun) })
	}
	group.Wait()
	units, busy, joining := 0, 0.0, 0.0
	for _, one := range all {
		units += one.units
		busy += one.busy.Seconds()
		joining += one.joining.Seconds()
	}
	if err := os.WriteFile("@{report}", []byte(fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy, joining)), 0o644); err != nil {
		log.Fatal(err)
	}
}
