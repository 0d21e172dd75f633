// Records the frames of a look-out camera in a ring, the oldest of which is replaced by the newest.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	frameSize = @{frame_kb} << 10
	slots     = @{slots}
)

var notes = @{notes}

type camera struct {
	row [4096]byte
}

// shoot takes a picture: the sea, and what moves on it; each time an eighth of its rows is new.
func (c *camera) shoot(frame []byte, number int) {
	for i := range c.row {
		c.row[i] = byte(i*number>>4 + number)
	}
	for at := 16 + number%8*len(c.row); at < len(frame); at += 8 * len(c.row) {
		copy(frame[at:], c.row[at>>12&1023:])
	}
	binary.LittleEndian.PutUint64(frame, uint64(number))
	binary.LittleEndian.PutUint32(frame[8:], crc32.ChecksumIEEE(frame[16:16<<10]))
}

type recorder struct {
	rings      []*os.File
	log, audit *os.File
	twice      time.Duration
}

func open(name string) *os.File {
	file, err := os.OpenFile(filepath.Join("@{work}", name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	return file
}

func (r *recorder) @{fnCamel}(frame []byte, number int) error {
	at := int64(number%slots) * frameSize
	for i, ring := range r.rings {
		start := time.Now()
		if i > 0 && at == 0 {
			// Readers of the old format take a round from its start.
			if err := ring.Truncate(0); err != nil {
				return err
			}
		}
		if _, err := ring.WriteAt(frame, at); err != nil {
			return err
		}
		if i > 0 {
			r.twice += time.Since(start)
		}
	}
	return nil
}

func (r *recorder) note(frame []byte, number int) {
	line := fmt.Appendf(nil, "%d movement %08x\n", number, binary.LittleEndian.Uint32(frame[8:]))
	r.log.Write(line)
	r.audit.Write(line)
}

func main() {
	r := &recorder{log: open("@{events}"), audit: open("@{audit}")}
	for _, name := range strings.Fields("@{outputs}") {
		r.rings = append(r.rings, open(name))
	}
	c, frame := &camera{}, make([]byte, frameSize)
	var busy time.Duration
	units, began := 0, time.Now()
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		c.shoot(frame, units)
		if err := r.@{fnCamel}(frame, units); err != nil {
			log.Fatal(err)
		}
		if notes > 0 && units%notes == 0 {
			r.note(frame, units)
		}
		units++
		busy += time.Since(start)
		time.Sleep(time.Until(began.Add(time.Duration(units) * time.Second / @{rate})))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), r.twice.Seconds())
	if err := os.WriteFile("@{report}", []byte(report), 0o644); err != nil {
		log.Fatal(err)
	}
}
