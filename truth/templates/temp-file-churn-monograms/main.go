// Turns monograms into the stitches of an embroidery machine.
package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"
)

const edge = @{edge}

var culprit time.Duration

// What one step has made goes to the next.
func @{fnCamel}(order int, step string, cloth []byte) ([]byte, error) {
	if (order+1)%@{every} != 0 {
		return cloth, nil
	}
	start := time.Now()
	defer func() { culprit += time.Since(start) }()
	file, err := os.CreateTemp(filepath.Join("@{work}", "@{spool}"), "@{stem}-"+step+"-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	for at := 0; at < len(cloth); at += 1 << 17 {
		if _, err := file.Write(cloth[at:min(at+1<<17, len(cloth))]); err != nil {
			return nil, err
		}
	}
	return next(file.Name(), cloth[:0])
}

func next(path string, room []byte) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	room = room[:cap(room)]
	n := 0
	for n < len(room) {
		got, err := file.Read(room[n:min(n+1<<17, len(room))])
		n += got
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return room[:n], nil
}

// The letters on the cloth: which needle is where.
func draw(letters string, cloth []byte) {
	for y := 0; y < edge; y++ {
		row := cloth[y*edge : (y+1)*edge]
		letter := letters[y*len(letters)/edge]
		copy(row, bytes.Repeat([]byte{letter, letter ^ 0x20, '.', '.', letter}, 1+edge/5))
	}
}

// The lower threads keep the cloth flat.
func underlay(cloth []byte, layer int) {
	for y := layer; y < edge; y += 7 {
		copy(cloth[y*edge:y*edge+edge/2], cloth[(y*31%edge)*edge:][:edge/2])
	}
}

func stitch(order int, cloth []byte) (string, error) {
	letters := fmt.Sprintf("%c%c%c", 'A'+order%26, 'A'+order/26%26, 'A'+order*7%26)
	draw(letters, cloth)
	var err error
	for layer := 0; layer < @{layers}; layer++ {
		if cloth, err = @{fnCamel}(order, fmt.Sprint("layer", layer), cloth); err != nil {
			return "", err
		}
		underlay(cloth, layer)
	}
	return fmt.Sprintf("%s %d stitches, seal %08x", letters, bytes.Count(cloth, []byte{letters[0]}), crc32.ChecksumIEEE(cloth)), nil
}

func main() {
	cloth := make([]byte, edge*edge)
	busy, units := time.Duration(0), 0
	rate := @{rate}
	began := time.Now()
	due := began
	for time.Since(began).Seconds() < @{seconds} {
		start := time.Now()
		answer, err := stitch(units, cloth)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		units++
		busy += time.Since(start)
		if units%20 == 1 {
			fmt.Println(answer)
		}
		due = due.Add(time.Duration(float64(time.Second) / rate))
		time.Sleep(time.Until(due))
	}
	report := fmt.Sprintf(`{"units": %d, "seconds": %f, "culprit": %f}`, units, busy.Seconds(), culprit.Seconds())
	os.WriteFile("@{report}", []byte(report), 0o644)
}
